//go:build !control_noabsent

package native

// keepsAbsent has the names remembered under which there was no header. Only the
// control build of the tests, which must then fail, has it off.
const keepsAbsent = true
