//go:build control_noinputs

package key

const checkInputs = false
