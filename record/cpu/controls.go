//go:build !control

package cpu

// Mechanisms, each with the name of the control that takes it out (package control).
const thisOne = true // othercpu: the processor is this one
