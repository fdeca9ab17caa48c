//go:build !control

package lease

// What control builds of the tests go without (package control).
const (
	enabled  = true // there are leases
	ownClock = true // a holder's age is not taken from the text of its lock file
)
