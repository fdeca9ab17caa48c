// Whether the limit on the size of files allows a file.

package lockfile

import "syscall"

// FitsLimit reports whether this process may make a file of a size. The kernel
// kills a process that writes beyond ulimit -f, with SIGXFSZ.
func FitsLimit(size int64) bool {
	var limit syscall.Rlimit
	return syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit) != nil || uint64(size) <= limit.Cur
}
