//go:build control_noforklock

package dl

const (
	byContent    = true
	asLoaded     = true
	forkIsWaited = false
)
