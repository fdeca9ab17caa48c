//go:build control

package stamp

import "jitcache/core/control"

var (
	readsFresh   = !control.Is("nofresh")
	doubtsImages = !control.Is("noimages")
)
