//go:build !control_noheaders

package native

// keepsHeaders has headers remembered, and not the sources alone. Only the
// control build of the tests, which must then fail, has it off.
const keepsHeaders = true
