//go:build !control_noidentity && !control_noimage && !control_noforklock

package dl

// Control builds of the tests, which must then fail, turn these off.
const (
	byContent    = true // identify a library by what it is, not by its name
	asLoaded     = true // one that is loaded by what is loaded, not by its file
	forkIsWaited = true // a fork waits for those who hold the loader's lock
)
