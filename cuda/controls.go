//go:build !control

package cuda

// What control builds of the tests go without (package control).
const (
	lookForTime = true // texts are searched for __DATE__ and its like
	fallsBack   = true // the host compiles what a worker could not, for a reason of the worker's
)
