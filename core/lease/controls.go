//go:build !control

package lease

// Mechanisms, each with the name of the control that takes it out (package control).
const (
	enabled     = true // nolease: one process compiles, and the others wait for it
	ownClock    = true // anyclock: a holder's age is not taken from the text of its lock file
	growsPauses = true // busywaits: who has waited long tries the lock more seldom
)
