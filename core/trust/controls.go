//go:build !control

package trust

// Mechanisms, each with the name of the control that takes it out (package control).
const (
	checkSignature = true // anysignature: a signature must be of the entry that it is on
	heedsWithdrawn = true // nowithdrawal: a withdrawn key is not trusted
	heedsNamespace = true // nonamespace: a namespace that is too long is not treated as none
	checkOwner     = true // anyconfig: settings are read only from files that nobody else may write
	locksFolder    = true // notelock: one process at a time changes a file of keys
)
