//go:build !control_nolibraries

package native

// keepsLibraries has the libraries of a compiler's programs count. Only the
// control build of the tests, which must then fail, has it off.
const keepsLibraries = true
