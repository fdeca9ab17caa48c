// Locks with names, in the directory's folder of lock files.

package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"jitcache/core/key"
	"jitcache/core/lockfile"
)

// TryLock takes the lock with a name in this directory's folder of locks, and makes the
// folder if it is missing. See lockfile.Try for the rest.
func (s *Store) TryLock(name string, sign func() string) (*lockfile.Lock, error) {
	dir, own := s.LockDir()
	mode := fs.FileMode(s.mode)
	if own {
		mode = 0o600
	}
	l, err := lockfile.Try(s.openLocks, name, mode, sign)
	if !errors.Is(err, fs.ErrNotExist) {
		return l, err
	}
	if own {
		err = os.MkdirAll(dir, privateDir)
	} else {
		err = s.makeLocks()
	}
	if err != nil {
		return nil, errors.Join(lockfile.ErrUnsupported, err)
	}
	return lockfile.Try(s.openLocks, name, mode, sign)
}

// ReadLock returns the text that the holder of a lock has written; see lockfile.Read.
func (s *Store) ReadLock(name string) (text string, changed time.Time, err error) {
	return lockfile.Read(s.openLocks, name)
}

// Locks returns the names of the locks that have files, held or not.
func (s *Store) Locks() []string {
	dir, err := s.openLocks()
	if err != nil {
		return nil
	}
	defer closeFd(dir)
	files, _ := readNames(dir)
	var names []string
	for _, file := range files {
		if name, ok := strings.CutSuffix(file, lockfile.Suffix); ok {
			names = append(names, name)
		}
	}
	return names
}

// openLocks opens the folder of locks.
func (s *Store) openLocks() (int, error) {
	dir, own := s.LockDir()
	if own {
		return openOwn(dir)
	}
	fd, e := s.openDirBelow("locks")
	return fd, asError("open", dir, e)
}

func (s *Store) makeLocks() error {
	v1, e := s.openDirBelow("")
	if e == 0 {
		e = s.makeDir(v1, "locks")
		closeFd(v1)
	}
	return asError("mkdir", s.v1+"/locks", e)
}

// openOwn opens a folder of this user's own. It refuses a folder, or one in a folder,
// that belongs to another user or that others may write.
func openOwn(path string) (int, error) {
	parent, e := openat(atCwd, filepath.Dir(path), unix.O_PATH|unix.O_DIRECTORY, 0)
	if e != 0 {
		return -1, asError("open", path, e)
	}
	defer closeFd(parent)
	fd, e := openNoLink(parent, filepath.Base(path), unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if e != 0 {
		return -1, asError("open", path, e)
	}
	if !isOwn(parent) || !isOwn(fd) {
		closeFd(fd)
		return -1, asError("lock", path, unix.EACCES)
	}
	return fd, nil
}

func isOwn(fd int) bool {
	var st syscall.Stat_t
	return fstat(fd, &st) == 0 && int(st.Uid) == os.Geteuid() && st.Mode&(groupWrites|otherWrites) == 0
}

// LockDir returns the folder for lock files of this directory, and whether it is this
// user's own instead of a part of the cache.
//
// Locks of a cache on a network file system are kept on the node. flock on such a file
// system is slow, off by default (Lustre) or an emulation. It would only save a second
// node from compiling the same thing, which is not worth a hang.
func (s *Store) LockDir() (dir string, own bool) {
	dir = s.options.LockDir
	if dir == "" && s.mount.Network {
		dir = s.options.NodeLockDir
	}
	if dir == "" {
		return s.v1 + "/locks", false
	}
	sum := key.Sum([]byte(s.root))
	return fmt.Sprintf("%s/%x", dir, sum[:8]), true
}
