//go:build !control

package lockfile

// What control builds of the tests go without (package control).
const (
	sayUnsupported = true // a lock that cannot be had is told from one that is held
	checkSame      = true // the locked file must still be the one under its name
	checkRegular   = true // only a regular file without a second name is locked, written or read
)
