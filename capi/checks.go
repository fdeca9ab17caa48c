//go:build !control_norecover && !control_keeplocks

package main

// What becomes of a panic. Control builds of the tests have one of them off and
// must then fail; nothing else may.
const (
	recovers = true // it ends in the export, not in the host
	givesUp  = true // the process gives its locks up
)
