//go:build !control

package main

// Mechanisms, each with the name of the control that takes it out (package control).
const (
	recovers    = true // norecover: a panic ends in the export, not in the host
	givesUp     = true // keeplocks: a process gives its locks up after a panic
	limitsProcs = true // procs: the number of threads that run Go code is bounded
	sound       = true // panic: no key makes the core panic
)
