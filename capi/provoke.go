//go:build !control_panic

package main

import "jitcache/core/key"

// provoke panics in control builds, for a key of a certain name.
func provoke(*key.Key) {}
