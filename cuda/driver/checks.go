//go:build !control_notable && !control_pointer

package driver

// Control builds of the tests, which must then fail, turn these off.
const (
	keptOnce  = true // a module is loaded once per context and id
	knownByID = true // a context is known by its id, not by its pointer
)
