// Locks held by a build without C, which nobody has to count.

//go:build !cgo

package lockfile

// A program without C has no host that forks it.
func rise() {}
func fall() {}
