//go:build control

package worker

import "jitcache/core/control"

var (
	checkWorker = !control.Is("noworkercheck")
	bounded     = !control.Is("nobound")
	ownsFolder  = !control.Is("noownfolder")
	comparesAll = !control.Is("anyheaders")
	endsAtExit  = !control.Is("noendatexit")
)
