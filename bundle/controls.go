//go:build !control

package bundle

// What control builds of the tests go without (package control).
const (
	checkMembers  = true // members are regular files with the names of entries, in ascending order
	checkBounds   = true // no more is read of a bundle than its bounds allow
	sparesDevices = true // a bundle does not replace a device or a pipe
)
