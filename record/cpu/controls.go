//go:build !control

package cpu

// What control builds of the tests go without (package control).
const thisOne = true // the processor is this one
