//go:build control

package bundle

import "jitcache/core/control"

var (
	checkMembers  = !control.Is("anymember")
	checkBounds   = !control.Is("anylength")
	sparesDevices = !control.Is("overdevices")
)
