//go:build control_noagain

package store

const (
	checkWrite = true
	callAgain  = false
	checkLimit = true
)
