//go:build !control_panic && !control_norecover

package main

import "jitcache/core/key"

// recovers lets no panic out of an export. Only the control build of the tests,
// which must then lose its host, has it off.
const recovers = true

// provoke panics in control builds, for a key of a certain name.
func provoke(*key.Key) {}
