//go:build control

package trust

import "jitcache/core/control"

var (
	checkSignature = !control.Is("anysignature")
	heedsWithdrawn = !control.Is("nowithdrawal")
	heedsNamespace = !control.Is("nonamespace")
	checkOwner     = !control.Is("anyconfig")
	locksFolder    = !control.Is("notelock")
)
