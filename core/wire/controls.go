//go:build !control

package wire

// What control builds of the tests go without (package control).
const bounded = true // no length is believed that is above a bound
