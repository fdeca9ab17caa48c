//go:build !cgo

// Package mutex has the mutexes of the library's C code. A program that is built without
// C has none.
package mutex
