//go:build control

package trust

import "jitcache/core/control"

var (
	checkSignature = !control.Is("anysignature")
	heedsWithdrawn = !control.Is("nowithdrawal")
	checkOwner     = !control.Is("anyconfig")
)
