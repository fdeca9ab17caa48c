package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"jitcache/core/lockfile"
)

// userPlaces are where a user's own folder of locks may be on this node. Not below TMPDIR
// or XDG_RUNTIME_DIR: sessions and jobs of one user have different ones.
var userPlaces = []string{"/dev/shm", "/tmp"}

// TryUserLock takes the lock with a name, for this process among all of its user's on this
// node, whatever directories they have; those that name a folder for lock files are
// among themselves. See lockfile.Try for the rest.
func (s *Store) TryUserLock(name string) (l *lockfile.Lock, err error) {
	places := userPlaces
	if s.options.LockDir != "" {
		places = []string{s.options.LockDir}
	}
	for _, place := range places {
		l, err = tryIn(filepath.Join(place, fmt.Sprintf("jitcache-%d", os.Geteuid())), name)
		if err == nil {
			return l, nil
		}
	}
	return nil, err
}

func tryIn(dir, name string) (*lockfile.Lock, error) {
	open := func() (int, error) { return openUsers(dir) }
	l, err := lockfile.Try(open, name, 0o600, nil)
	if !errors.Is(err, fs.ErrNotExist) {
		return l, err
	}
	if err := os.MkdirAll(dir, privateDir); err != nil {
		return nil, errors.Join(lockfile.ErrUnsupported, err)
	}
	return lockfile.Try(open, name, 0o600, nil)
}

// openUsers opens a folder where anybody may have made one. It refuses what is not this
// user's alone.
func openUsers(path string) (int, error) {
	fd, e := openat(atCwd, path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if e != 0 {
		return -1, asError("open", path, e)
	}
	if !isOwn(fd) {
		closeFd(fd)
		return -1, asError("lock", path, unix.EACCES)
	}
	return fd, nil
}
