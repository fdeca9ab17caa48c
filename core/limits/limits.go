package limits

import (
	"syscall"

	"jitcache/core/limits/began"
)

// Package syscall has raised the soft limit to the hard one when it was initialized, and
// remembers for those that it starts what it was. To set it makes it forget.
func init() {
	was := syscall.Rlimit{Cur: began.OpenFiles[0], Max: began.OpenFiles[1]}
	var now syscall.Rlimit
	if restores && began.Known && syscall.Getrlimit(syscall.RLIMIT_NOFILE, &now) == nil && now.Cur > was.Cur && now.Max == was.Max {
		_ = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &was) // lowering is always allowed
	}
}
