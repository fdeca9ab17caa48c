//go:build !control

package core

// What control builds of the tests go without (package control).
const (
	degrade       = true // a cache whose directory cannot be used is one in memory
	cutsWaits     = true // a wait is cut into slices
	inOrder       = true // what is kept in memory is not older than the disk
	goesOn        = true // a lookup goes on to the layers
	copies        = true // what is found in a layer that does not stay as it is is copied
	asksWho       = true // what is brought from elsewhere is taken if somebody who is trusted has signed it
	signs         = true // what is stored is signed
	marks         = true // what was made elsewhere is marked, and not signed
	waitsAtEnd    = true // a process that ends waits for what it has stored to be sent
	prefetches    = true // what a profile names is fetched when its job starts
	claims        = true // who compiles asks for the claim of the fleet
	tellsResting  = true // a miss while a remote is not asked says so
	checksRemotes = true // what comes from a remote was signed by somebody who is trusted
	usesUncopied  = true // what a remote has given is used, whatever becomes of its copy
)
