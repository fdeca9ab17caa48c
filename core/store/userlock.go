// Locks that all processes of a user on a node share.

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

// userPlaces are the folders that may hold a user's own folder of locks on this node.
// TMPDIR and XDG_RUNTIME_DIR are not among them, because sessions and jobs of one user
// have different ones.
var userPlaces = []string{"/dev/shm", "/tmp"}

// TryUserLock takes a lock that all processes of this user on this node share, whatever
// cache directories they use. Processes that name a folder for lock files share it only
// with those that name the same one. See lockfile.Try for the rest.
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

// openUsers opens a folder in a place where anybody may make one. It refuses a folder
// that is not this user's, or that others may write.
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
