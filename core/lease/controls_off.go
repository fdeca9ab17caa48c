//go:build control

package lease

import "jitcache/core/control"

var (
	enabled  = !control.Is("nolease")
	ownClock = !control.Is("anyclock")
)
