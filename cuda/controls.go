//go:build !control

package cuda

// Mechanisms, each with the name of the control that takes it out (package control).
const (
	lookForTime = true // notime: texts are searched for __DATE__ and its like
	fallsBack   = true // nofallback: the host compiles what a worker could not, for a reason of the worker's
)
