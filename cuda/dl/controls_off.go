//go:build control

package dl

import "jitcache/core/control"

var forkIsWaited = !control.Is("noforklock")
