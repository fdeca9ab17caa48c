//go:build control

package launch

import "jitcache/core/control"

var (
	admits    = !control.Is("anyplace")
	looks     = !control.Is("nolooks")
	marks     = !control.Is("nomarks")
	seesTimes = !control.Is("anytimes")
	tells     = !control.Is("notells")
	remembers = !control.Is("noremembered")
	forgets   = !control.Is("noforgotten")
	exchanges = !control.Is("noexchange")
	waits     = !control.Is("nowaiting")
	ends      = !control.Is("noending")
)
