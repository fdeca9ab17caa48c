//go:build !control

package main

import "jitcache/core/key"

// What control builds of the tests go without (package control).
const (
	recovers    = true // a panic ends in the export, not in the host
	givesUp     = true // a process gives its locks up after a panic
	limitsProcs = true // the number of threads that run Go code is bounded
)

// injectPanic panics in a control build, for a key of a certain name.
func injectPanic(*key.Key) {}
