//go:build control_panic

package main

import "jitcache/core/key"

// injectPanic is the bug that no test can wait for.
func injectPanic(k *key.Key) {
	if k.Name == "control panic" {
		panic("injected")
	}
}
