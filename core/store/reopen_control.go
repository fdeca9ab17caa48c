//go:build control_keepopen

package store

import (
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// kept holds descriptors by path.
var kept sync.Map

func openFolder(path string) (int, syscall.Errno) {
	if fd, ok := kept.Load(path); ok {
		again, err := unix.Dup(fd.(int))
		return again, errno(err)
	}
	fd, e := openBelow([]byte(path+"\x00"), unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if e == 0 {
		if own, err := unix.Dup(fd); err == nil {
			kept.Store(path, own)
		}
	}
	return fd, e
}
