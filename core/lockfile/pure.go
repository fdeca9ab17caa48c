//go:build !cgo

package lockfile

// A program without C has no host that forks it.
func rise() {}
func fall() {}
