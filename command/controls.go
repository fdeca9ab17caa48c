//go:build !control

package command

// Mechanisms, each with the name of the control that takes it out (package control).
const (
	sweepsTemps  = true // notempsweep: what dead processes have left in the temp directory is removed
	sparesLiving = true // sweepliving: what living processes have in the temp directory is not removed

	refusesElsewhere = true // elsewhere: a result that is a link to a file elsewhere is not kept

	givesVariables = true // noagreed: a command gets the variables that its request gives
	givesLimits    = true // noagreedlimits: a command gets the limits and the umask that its request gives

	hidesPrivate = true // noprivatename: the name of the private folder does not get into debug information
)
