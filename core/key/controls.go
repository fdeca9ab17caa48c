//go:build !control

package key

// Mechanisms, each with the name of the control that takes it out (package control).
const checkInputs = true // noinputs: a file that changes while a result is made from it is noticed
