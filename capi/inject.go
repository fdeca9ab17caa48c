//go:build !control_panic

package main

import "jitcache/core/key"

// injectPanic panics in control builds, for a key of a certain name.
func injectPanic(*key.Key) {}
