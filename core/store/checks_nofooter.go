//go:build control_nofooter

package store

const (
	checkPayload = true
	checkFooter  = false
)
