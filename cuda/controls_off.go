//go:build control

package cuda

import "jitcache/core/control"

var keepAbsent = !control.Is("noabsent")
