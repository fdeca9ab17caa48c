//go:build !control_nosamefile

package lockfile

// checkSame looks whether the file that was locked still is the one at the path.
// A control build of the tests turns it off.
const checkSame = true
