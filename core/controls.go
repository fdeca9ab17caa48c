//go:build !control

package core

// Mechanisms, each with the name of the control that takes it out (package control).
const (
	degrade        = true // nodegrade: a cache whose directory cannot be used keeps results in memory
	cutsWaits      = true // longslice: a wait is cut into slices, between which a host's handlers run
	inOrder        = true // noorder: memory never holds an older entry than the disk
	goesOn         = true // nolayers: a lookup goes on to the layers
	copies         = true // nocopies: entries of a layer that may change under their reader are copied
	asksWho        = true // takesany: entries from elsewhere are taken only if somebody who is trusted has signed them
	signs          = true // nosigning: entries are signed
	marks          = true // signsall: entries that were made elsewhere are marked, and not signed
	waitsAtEnd     = true // noexitwait: a process waits at its end until its results are sent
	prefetches     = true // noprofile: the entries of a profile are fetched when its job starts
	claims         = true // noclaims: a process asks for the fleet's claim before it compiles
	tellsResting   = true // noresting: a miss says if a remote was not asked
	checksRemotes  = true // anyremote: entries of a remote are used only if somebody who is trusted has signed them
	waitsForCopies = true // nosettling: who asks what is in the directory waits for copies that are being made
	copiesInPauses = true // nopause: what a remote has given is copied when the program pauses
	usesUncopied   = true // needscopy: an entry of a remote is used even if it cannot be copied
)
