//go:build !control_short

package store

// goOn makes a read or write that has moved less than was asked for go on. A
// control build of the tests turns it off.
const goOn = true
