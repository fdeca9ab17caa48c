//go:build control

package observe

import "jitcache/core/control"

var (
	checksRoom  = !control.Is("noroom")
	endsInOrder = !control.Is("noorderlyend")
)
