//go:build control_notable

package driver

const (
	keptOnce  = false
	knownByID = true
)
