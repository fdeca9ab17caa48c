//go:build !control

package stamp

// Mechanisms, each with the name of the control that takes it out (package control).
const (
	readsFresh   = true // nofresh: the stamp of a file that changed a moment ago proves nothing
	doubtsImages = true // noimages: stamps of files on images count only within one mount
)
