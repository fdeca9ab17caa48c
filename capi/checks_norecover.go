//go:build control_norecover

package main

const (
	recovers = false
	givesUp  = true
)
