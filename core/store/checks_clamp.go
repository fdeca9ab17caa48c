//go:build !control_noclamp

package store

// clampCells keeps the ledger's cells from going below zero. A control build
// turns it off.
const clampCells = true
