//go:build !control_nowritecheck && !control_noagain && !control_nolimit

package store

// What the tests of failing system calls rest on. Control builds turn one off.
const (
	checkWrite = true // a put looks at whether its write has worked
	callAgain  = true // a call that a signal has interrupted is made again
	checkLimit = true // nothing is written beyond the limit of the size of files
)
