//go:build !control_noabsent

package cuda

// keepAbsent makes the names that were looked for in vain part of a closure.
// Only the control build of the tests, which must then fail, has it off.
const keepAbsent = true
