//go:build control_nolimit

package store

const (
	checkWrite = true
	callAgain  = true
	checkLimit = false
)
