//go:build !control

package key

// What control builds of the tests go without (package control).
const checkInputs = true // an input that has changed is noticed
