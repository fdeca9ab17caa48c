//go:build control

package core

import "jitcache/core/control"

var (
	degrade        = !control.Is("nodegrade")
	cutsWaits      = !control.Is("longslice")
	inOrder        = !control.Is("noorder")
	goesOn         = !control.Is("nolayers")
	copies         = !control.Is("nocopies")
	asksWho        = !control.Is("takesany")
	signs          = !control.Is("nosigning")
	marks          = !control.Is("signsall")
	waitsAtEnd     = !control.Is("noexitwait")
	prefetches     = !control.Is("noprofile")
	claims         = !control.Is("noclaims")
	tellsResting   = !control.Is("noresting")
	checksRemotes  = !control.Is("anyremote")
	waitsForCopies = !control.Is("nosettling")
	copiesInPauses = !control.Is("nopause")
	usesUncopied   = !control.Is("needscopy")
)
