//go:build control

package remote

import "jitcache/core/control"

var (
	budgeted    = !control.Is("nobudget")
	closesAll   = !control.Is("inherits")
	checksOther = !control.Is("anysocket")
)
