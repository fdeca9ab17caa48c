//go:build control_longslice

package core

import "time"

// Slice is too long: Ctrl-C would be answered after 5 seconds.
const Slice = 5 * time.Second
