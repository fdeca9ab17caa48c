//go:build !control

package command

// What control builds of the tests go without (package control).
const (
	sweepsTemps  = true // private folders of dead processes are removed from the temp directory
	sparesLiving = true // those of living processes are not

	refusesElsewhere = true // a result that is a link to a file elsewhere is not kept
)
