//go:build !control_norefusal

package lockfile

// sayUnsupported tells a lock that was refused from one that somebody holds. A
// control build of the tests turns it off.
const sayUnsupported = true
