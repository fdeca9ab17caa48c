// Puts the soft limit on open files back, when the process starts.

package limits

import (
	"syscall"

	"jitcache/core/limits/began"
)

// Package syscall has raised the soft limit to the hard one when it was initialized. It
// remembers the old limit and restores it in the processes that it starts. Setting the
// limit here makes it forget that.
func init() {
	was := syscall.Rlimit{Cur: began.OpenFiles[0], Max: began.OpenFiles[1]}
	var now syscall.Rlimit
	if restores && began.Known && syscall.Getrlimit(syscall.RLIMIT_NOFILE, &now) == nil && now.Cur > was.Cur && now.Max == was.Max {
		_ = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &was) // lowering is always allowed
	}
}
