//go:build control_norepair

package store

const makeAgain = false
