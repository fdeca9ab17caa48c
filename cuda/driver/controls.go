//go:build !control

package driver

// Mechanisms, each with the name of the control that takes it out (package control).
const (
	keptOnce  = true // notable: a module is loaded once per context and id
	knownByID = true // pointer: contexts are told apart by their ids, not by their pointers
)
