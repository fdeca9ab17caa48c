//go:build !control

package stamp

// What control builds of the tests go without (package control).
const (
	readsFresh   = true // the stamp of a file that changed a moment ago proves nothing
	doubtsImages = true // stamps on images count only within one mount
)
