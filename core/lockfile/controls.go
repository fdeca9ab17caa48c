//go:build !control

package lockfile

// Mechanisms, each with the name of the control that takes it out (package control).
const (
	sayUnsupported = true // norefusal: a lock that cannot be had is told from one that is held
	checkSame      = true // nosamefile: the locked file must still be the one under its name
	checkRegular   = true // anyfile: only a regular file without a second name is locked, read, or written in place
)
