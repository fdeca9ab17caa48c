//go:build control_noidentity

package dl

const (
	byContent    = false
	asLoaded     = true
	forkIsWaited = true
)
