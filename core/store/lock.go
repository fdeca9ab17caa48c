package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"jitcache/core/lockfile"
)

// TryLock takes the lock with a name in the folder of locks of this directory,
// making the folder if need be. See lockfile.Try for the rest.
func (s *Store) TryLock(name string) (*lockfile.Lock, error) {
	dir, own := s.LockDir()
	mode := fs.FileMode(s.mode)
	if own {
		mode = 0o600
	}
	path := lockfile.Path(dir, name)
	if own {
		if err := s.ownLocks(dir); err != nil {
			return nil, errors.Join(lockfile.ErrUnsupported, err)
		}
		return lockfile.Try(path, mode)
	}
	l, err := lockfile.Try(path, mode)
	if errors.Is(err, fs.ErrNotExist) {
		if e := s.makeDir(dir); e != 0 {
			return nil, errors.Join(lockfile.ErrUnsupported, e)
		}
		l, err = lockfile.Try(path, mode)
	}
	return l, err
}

// ownLocks makes the private folder of locks, once. One that somebody else has
// made, in a place where anybody can, is refused.
func (s *Store) ownLocks(dir string) error {
	s.locksOnce.Do(func() {
		if s.locksErr = os.MkdirAll(dir, privateDir); s.locksErr == nil {
			s.locksErr = errors.Join(checkOwn(filepath.Dir(dir)), checkOwn(dir))
		}
	})
	return s.locksErr
}

func checkOwn(dir string) error {
	st, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	sys := st.Sys().(*syscall.Stat_t)
	if !st.IsDir() || int(sys.Uid) != os.Geteuid() || sys.Mode&(groupWrites|otherWrites) != 0 {
		return &fs.PathError{Op: "lock", Path: dir, Err: fs.ErrPermission}
	}
	return nil
}

// LockPath returns the file of the lock with a name.
func (s *Store) LockPath(name string) string {
	dir, _ := s.LockDir()
	return lockfile.Path(dir, name)
}
