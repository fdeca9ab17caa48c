//go:build control_nopinned

package store

const readsPinned = false
