//go:build !control_nopinned

package store

// readsPinned has the file behind a path looked at again. Only the control build
// of the tests, which must then fail, has it off.
const readsPinned = true
