//go:build control

package driver

import "jitcache/core/control"

var (
	keptOnce  = !control.Is("notable")
	knownByID = !control.Is("pointer")
)
