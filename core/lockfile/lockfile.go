// Package lockfile locks files between processes. It is the one place that
// knows gofrs/flock.
//
// A lock is flock(2) on a file that exists for it: the kernel gives it up when
// its holder dies, however it dies. Locks here only ever save work; nothing in
// jitcache is wrong without them.
package lockfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/gofrs/flock"
)

// Suffix ends the name of every lock file. held.c knows it too: a forked child
// recognises its parent's lock files by it.
const Suffix = ".jclock"

// Path returns the path of the lock file for a name.
func Path(dir, name string) string { return filepath.Join(dir, name+Suffix) }

// ErrUnsupported is returned where the file system cannot lock, or where no
// lock file can be made. The caller goes on without.
var ErrUnsupported = errors.New("locks are not supported here")

// Lock is a lock that is held.
type Lock struct {
	f    *flock.Flock
	path string
}

// flags of a lock file. O_RDWR, because flock on NFS needs a file open for
// writing.
const flags = os.O_CREATE | os.O_RDWR | syscall.O_NOFOLLOW | syscall.O_CLOEXEC

// Try takes the lock on the file at path, creating it with the given mode if
// need be. It never waits: it returns nil if another process, or another Lock
// of this one, holds it, and ErrUnsupported if locks do not work there.
//
// The file may have been removed by its last holder between opening and
// locking; then the lock guards nothing, and Try starts again.
func Try(path string, mode fs.FileMode) (*Lock, error) {
	for range 10 {
		rise()
		l, again, err := try(path, mode)
		if l == nil {
			fall()
		}
		if !again {
			return l, err
		}
	}
	return nil, nil // others come and go too fast: as good as held
}

func try(path string, mode fs.FileMode) (l *Lock, again bool, err error) {
	f := flock.New(path, flock.SetFlag(flags), flock.SetPermissions(mode))
	ok, err := f.TryLock()
	for errors.Is(err, syscall.EINTR) { // a signal of the host's, over FUSE or NFS
		ok, err = f.TryLock()
	}
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, false, err
		}
		return nil, false, unsupported(err)
	}
	if !ok {
		return nil, false, nil
	}
	mine, err := f.Stat()
	there, err2 := os.Lstat(path)
	if errors.Is(err2, fs.ErrNotExist) {
		there, err2 = nil, nil
	}
	if err = errors.Join(err, err2); err != nil {
		// Not "again", which ends as "held by somebody": nobody would ever let go.
		unlock(f)
		return nil, false, unsupported(err)
	}
	if checkSame && (there == nil || !os.SameFile(mine, there)) {
		unlock(f)
		return nil, true, nil
	}
	if mine.Mode().Perm() != mode.Perm() {
		// A umask must not keep the others of a shared directory out.
		os.Chmod(path, mode)
	}
	return &Lock{f, path}, false, nil
}

// unsupported is what Try says of an error that will not pass.
func unsupported(err error) error {
	if !sayUnsupported {
		return nil
	}
	return errors.Join(ErrUnsupported, err)
}

// Write replaces the content of the lock file, which tells others who holds it.
// Best effort.
func (l *Lock) Write(text string) {
	if !FitsLimit(int64(len(text))) {
		return
	}
	f, err := os.OpenFile(l.path, os.O_WRONLY|syscall.O_NOFOLLOW|syscall.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	f.WriteString(text)
	// Cut off what a dead holder has left. Not by O_TRUNC: ext4 writes a file that
	// was emptied to the disk when it is closed, which costs 300 us.
	if st, err := f.Stat(); err == nil && st.Size() > int64(len(text)) {
		f.Truncate(int64(len(text)))
	}
	f.Close()
}

// Unlock gives the lock up and leaves the file.
func (l *Lock) Unlock() {
	unlock(l.f)
	fall()
}

// unlock unlocks and closes. The package does not close where unlocking fails;
// a signal that interrupts it must not leave the lock with this process.
func unlock(f *flock.Flock) {
	for errors.Is(f.Unlock(), syscall.EINTR) {
	}
}

// Remove removes the file, then gives the lock up.
func (l *Lock) Remove() {
	os.Remove(l.path)
	l.Unlock()
}

// Descriptor returns the path of the lock's file, and the descriptor that holds the
// lock: -1 if it cannot be found. A program that this process becomes, and that is
// given the descriptor, holds the lock then.
func (l *Lock) Descriptor() (path string, fd int) {
	mine, err := l.f.Stat()
	if err != nil {
		return l.path, -1
	}
	fds, _ := os.ReadDir("/proc/self/fd")
	for _, entry := range fds {
		fd, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		if st, err := os.Stat("/proc/self/fd/" + entry.Name()); err == nil && os.SameFile(st, mine) {
			return l.path, fd
		}
	}
	return l.path, -1
}
