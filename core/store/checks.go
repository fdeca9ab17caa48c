//go:build !control_nochecksum && !control_nofooter

package store

// Checks that a hit rests on. Control builds of the tests turn one of them off
// and must then fail; nothing else may.
const (
	checkPayload = true // checksums of payload and attributes
	checkFooter  = true // the footer's checksum of itself
)
