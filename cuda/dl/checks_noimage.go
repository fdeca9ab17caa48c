//go:build control_noimage

package dl

const (
	byContent    = true
	asLoaded     = false
	forkIsWaited = true
)
