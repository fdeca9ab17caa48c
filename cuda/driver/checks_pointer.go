//go:build control_pointer

package driver

const (
	keptOnce  = true
	knownByID = false
)
