//go:build control_nochecksum

package store

const (
	checkPayload = false
	checkFooter  = true
)
