//go:build !control

package core

// What control builds of the tests go without (package control).
const (
	degrade        = true // a cache whose directory cannot be used keeps results in memory
	cutsWaits      = true // a wait is cut into slices
	inOrder        = true // memory never holds an older entry than the disk
	goesOn         = true // a lookup goes on to the layers
	copies         = true // entries of a layer that may change under their reader are copied
	asksWho        = true // entries from elsewhere are taken only if somebody who is trusted has signed them
	signs          = true // entries are signed
	marks          = true // entries that were made elsewhere are marked, and not signed
	waitsAtEnd     = true // a process waits at its end until its results are sent
	prefetches     = true // the entries of a profile are fetched when its job starts
	claims         = true // a process asks for the fleet's claim before it compiles
	tellsResting   = true // a miss says if a remote was not asked
	checksRemotes  = true // entries of a remote are used only if somebody who is trusted has signed them
	waitsForCopies = true // who asks what is in the directory waits for copies that are being made
	copiesInPauses = true // what a remote has given is copied when the program pauses
	usesUncopied   = true // an entry of a remote is used even if it cannot be copied
)
