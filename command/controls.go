//go:build !control

package command

// Tests are shown to notice when one of these is taken out (package control):
const (
	sweepsTemps  = true // folders of processes that are gone are removed from the temp directory
	sparesLiving = true // and those of others are not

	refusesElsewhere = true // what a link leads to that a command has made is not kept
)
