//go:build control_keeplocks

package main

const (
	recovers = true
	givesUp  = false
)
