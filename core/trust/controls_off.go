//go:build control

package trust

import "jitcache/core/control"

var (
	checkOwner = !control.Is("anyconfig")
)
