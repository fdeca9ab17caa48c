//go:build control

package worker

import "jitcache/core/control"

var (
	checkWorker = !control.Is("noworkercheck")
	bounded     = !control.Is("nobound")
	endsAtExit  = !control.Is("noendatexit")
)
