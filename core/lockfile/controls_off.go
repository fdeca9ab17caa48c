//go:build control

package lockfile

import "jitcache/core/control"

var (
	sayUnsupported = !control.Is("norefusal")
	checkSame      = !control.Is("nosamefile")
	checkRegular   = !control.Is("anyfile")
)
