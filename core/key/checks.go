//go:build !control_noinputs

package key

// checkInputs turns the input-changed rule on. Only the control build of the
// tests, which must then fail, has it off.
const checkInputs = true
