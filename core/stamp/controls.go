//go:build !control

package stamp

// Tests are shown to notice when one of these is taken out (package control):
const (
	readsFresh   = true // what changed a moment ago is read again
	doubtsImages = true // stamps of images prove nothing by themselves
)
