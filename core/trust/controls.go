//go:build !control

package trust

// What control builds of the tests go without (package control).
const (
	checkSignature = true // a signature must be of the entry that it is on
	heedsWithdrawn = true // a withdrawn key is not trusted
	heedsNamespace = true // a namespace that is too long is not treated as none
	checkOwner     = true // settings are read only from files that nobody else may write
	locksFolder    = true // one process at a time changes a file of keys
)
