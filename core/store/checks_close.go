//go:build !control_leak

package store

// closeFailed closes what something has failed with. A control build of the tests
// turns it off, and must be seen to leak.
const closeFailed = true
