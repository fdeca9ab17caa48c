//go:build control

package engine

import "jitcache/core/control"

var (
	readsPages    = !control.Is("unreadpages")
	endsWaits     = !control.Is("waitsfordisks")
	boundsReplies = !control.Is("anyreply")
	sharesFolders = !control.Is("ownfolders")
)
