//go:build !control

package key

// What control builds of the tests go without (package control).
const checkInputs = true // changed inputs are noticed
