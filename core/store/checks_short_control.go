//go:build control_short

package store

const goOn = false
