//go:build control_noclamp

package store

const clampCells = false
