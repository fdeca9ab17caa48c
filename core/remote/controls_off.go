//go:build control

package remote

import "jitcache/core/control"

var (
	budgeted         = !control.Is("nobudget")
	forgivesLate     = !control.Is("nolate")
	waitsForLiving   = !control.Is("allvain")
	goesOnAfterOne   = !control.Is("onestops")
	closesAll        = !control.Is("inherits")
	checksOther      = !control.Is("anysocket")
	knowsItsSocket   = !control.Is("anydescriptor")
	keepsConnections = !control.Is("connectseach")
	shortensPlace    = !control.Is("longplaces")
	knowsNotStarted  = !control.Is("waitsforstart")
)
