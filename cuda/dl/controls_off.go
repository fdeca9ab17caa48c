//go:build control

package dl

import "jitcache/core/control"

var (
	byContent    = !control.Is("noidentity")
	asLoaded     = !control.Is("noimage")
	forkIsWaited = !control.Is("noforklock")
)
