//go:build control

package main

import (
	"runtime"

	"jitcache/core/control"
	"jitcache/core/key"
)

var (
	recovers    = !control.Is("norecover")
	givesUp     = !control.Is("keeplocks")
	limitsProcs = !control.Is("procs")
)

// Without the bound Go runs as many threads as on a large machine.
func init() {
	if !limitsProcs {
		runtime.GOMAXPROCS(256)
	}
}

// injectPanic is a bug for the tests.
func injectPanic(k *key.Key) {
	if control.Is("panic") && k.Name == "control panic" {
		panic("injected")
	}
}
