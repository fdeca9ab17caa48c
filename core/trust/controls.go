//go:build !control

package trust

// What control builds of the tests go without (package control).
const (
	checkSignature = true // a signature is of what it stands on
	heedsWithdrawn = true // a key that was withdrawn is not trusted
	heedsNamespace = true // a namespace that is too long is not taken for none
	checkOwner     = true // settings are read only from files that nobody else may write
)
