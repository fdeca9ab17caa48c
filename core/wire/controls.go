//go:build !control

package wire

// Mechanisms, each with the name of the control that takes it out (package control).
const bounded = true // anyvalue: no length is believed that is above a bound
