//go:build !control

package lockfile

// What control builds of the tests go without (package control).
const (
	sayUnsupported = true // a lock that was refused is told from one that somebody holds
	checkSame      = true // the file that was locked must still be the one under its name
	checkRegular   = true // what is locked, written or read is a regular file with no other name
)
