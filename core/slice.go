//go:build !control_longslice

package core

import "time"

// Slice is how long one call of Acquire waits at most. A host's signal handlers
// run between two calls; 100 ms is what a person takes for at once.
const Slice = 100 * time.Millisecond
