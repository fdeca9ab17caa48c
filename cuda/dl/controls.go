//go:build !control

package dl

// What control builds of the tests go without (package control).
const (
	byContent    = true // a library is identified by what it is, not by its name
	asLoaded     = true // one that is loaded by what is loaded, not by its file
	forkIsWaited = true // a fork waits for those who hold the loader's lock
)
