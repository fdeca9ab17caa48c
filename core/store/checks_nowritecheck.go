//go:build control_nowritecheck

package store

const (
	checkWrite = false
	callAgain  = true
	checkLimit = true
)
