//go:build control

package native

import "jitcache/core/control"

var (
	resolvesNative   = !control.Is("nonative")
	keepsAbsent      = !control.Is("noabsent")
	keepsHeaders     = !control.Is("noheaders")
	keepsLibraries   = !control.Is("nolibraries")
	keepsPrecompiled = !control.Is("noprecompiled")
)
