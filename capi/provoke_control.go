//go:build control_panic

package main

import "jitcache/core/key"

// provoke is the bug that no test can wait for.
func provoke(k *key.Key) {
	if k.Name == "control panic" {
		panic("provoked")
	}
}
