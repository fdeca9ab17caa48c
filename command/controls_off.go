//go:build control

package command

import "jitcache/core/control"

var (
	sweepsTemps  = !control.Is("notempsweep")
	sparesLiving = !control.Is("sweepliving")

	refusesElsewhere = !control.Is("elsewhere")
)
