//go:build control_norecover

package main

import "jitcache/core/key"

const recovers = false

func provoke(k *key.Key) {
	if k.Name == "control panic" {
		panic("provoked")
	}
}
