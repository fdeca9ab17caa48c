//go:build control

package cuda

import "jitcache/core/control"

var (
	lookForTime = !control.Is("notime")
	fallsBack   = !control.Is("nofallback")
)
