// Descriptors of folders that a control build keeps open.

package store

import (
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// keptOpen holds the descriptors of folders by their paths, in a control build that keeps
// them open. No other build has this file's code, because its only caller is behind a
// constant.
var keptOpen sync.Map

// folderKeptOpen opens the folder at a path if it was not opened before.
func (s *Store) folderKeptOpen(path string) (int, syscall.Errno) {
	if fd, ok := keptOpen.Load(path); ok {
		again, err := unix.Dup(fd.(int))
		return again, errno(err)
	}
	fd, e := s.openNow(path)
	if e == 0 {
		if own, err := unix.Dup(fd); err == nil {
			keptOpen.Store(path, own)
		}
	}
	return fd, e
}
