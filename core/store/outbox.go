// Outboxes: marks of the entries that are to be sent to a remote.

package store

import (
	"syscall"

	"golang.org/x/sys/unix"

	"jitcache/core/key"
)

// An outbox is a folder with an empty file for each entry that is to be sent to a remote,
// named by its key. The helper sends the entry and removes the file (docs/format.md).

// Outbox returns the path of an outbox.
func (s *Store) Outbox(name string) string { return s.v1 + "/outbox/" + name }

// Enqueue puts an entry into an outbox.
func (s *Store) Enqueue(name string, id *key.ID) syscall.Errno {
	dir, e := s.openDirBelow("outbox/" + name)
	if e == unix.ENOENT {
		if e = s.makeOutbox(name); e == 0 {
			dir, e = s.openDirBelow("outbox/" + name)
		}
	}
	if e != 0 {
		return e
	}
	defer closeFd(dir)
	fd, e := createAt(dir, id.String(), s.mode)
	switch e {
	case 0:
		s.setMode(fd)
		return closeFd(fd)
	case unix.EEXIST: // the entry is in the outbox already
		return 0
	}
	return e
}

func (s *Store) makeOutbox(name string) syscall.Errno {
	v1, e := s.openDirBelow("")
	if e != 0 {
		return e
	}
	defer closeFd(v1)
	if e := s.makeDir(v1, "outbox"); e != 0 {
		return e
	}
	all, e := s.openDirBelow("outbox")
	if e != 0 {
		return e
	}
	defer closeFd(all)
	return s.makeDir(all, name)
}
