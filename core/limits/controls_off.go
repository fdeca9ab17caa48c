//go:build control

package limits

import "jitcache/core/control"

var restores = !control.Is("raised")
