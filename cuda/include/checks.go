//go:build !control_topfile

package include

// followHeaders makes what a header includes part of the closure. Only the
// control build of the tests, which must then fail, has it off.
const followHeaders = true
