//go:build !control_nolease

package lease

// enabled turns leases on. A control build of the tests turns them off, and
// must then count far more compiles than keys.
const enabled = true
