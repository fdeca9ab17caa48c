//go:build !control

package main

import "jitcache/core/key"

// What control builds of the tests go without (package control).
const (
	recovers    = true // a panic ends in the export, not in the host
	givesUp     = true // the process that has panicked gives its locks up
	limitsProcs = true // so many threads run Go code, and no more
)

// injectPanic panics in a control build, for a key of a certain name.
func injectPanic(*key.Key) {}
