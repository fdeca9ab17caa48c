//go:build !control_nonative

package native

// resolvesNative has what -march=native means on this processor in keys. Only
// the control build of the tests, which must then fail, has it off.
const resolvesNative = true
