//go:build !control

package bundle

// What control builds of the tests go without (package control).
const (
	checkMembers  = true // a member is a regular file by the name of an entry, after the one before
	checkBounds   = true // so much of a bundle is read and no more
	sparesDevices = true // no device or pipe is replaced by a bundle
)
