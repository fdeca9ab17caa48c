//go:build !control

package driver

// What control builds of the tests go without (package control).
const (
	keptOnce  = true // a module is loaded once per context and id
	knownByID = true // contexts are told apart by their ids, not by their pointers
)
