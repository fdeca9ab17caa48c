//go:build control_procs

package main

import "C" // as main.go, whose init then comes before this one

import "runtime"

// As if there were no limit, on a large machine.
func init() { runtime.GOMAXPROCS(256) }
