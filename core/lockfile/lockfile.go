// Package lockfile locks files between processes. It is the only package that uses
// gofrs/flock.
//
// A lock is flock(2) on a file that exists only for that: the kernel frees it when its
// holder dies, however it dies. Locks only save work; nothing in jitcache is wrong
// without them.
//
// Others may write the folder of locks. So a lock file is opened from a descriptor of
// its folder and never through a link. Opening it never waits, and only a regular file
// is locked, written or read.
package lockfile

import (
	"errors"
	"io/fs"
	"os"
	"strconv"
	"time"

	"github.com/gofrs/flock"
	"golang.org/x/sys/unix"
)

// Suffix ends the name of every lock file. held.c knows it too: a forked child
// recognises its parent's lock files by it.
const Suffix = ".jclock"

// ErrUnsupported is returned if the file system cannot lock, or no lock file can be
// made. The caller goes on without a lock.
var ErrUnsupported = errors.New("locks are not supported here")

// ErrNoFile is joined with ErrUnsupported if the lock file is not a regular file, or
// has a second name.
var ErrNoFile = errors.New("not a regular file, or it has hard links")

// Folder opens the folder of the lock files. Its caller closes the descriptor. It is
// called again to remove a file, because a host may close every descriptor that it did
// not open: only the lock's own descriptor is kept.
type Folder func() (fd int, err error)

// Lock is a lock that is held.
type Lock struct {
	f      *flock.Flock
	folder Folder
	file   string
}

// flags are the flags to open a lock file. O_RDWR: flock on NFS needs a file that is
// open for writing. O_NONBLOCK: a FIFO in its place must not wait for a reader.
const flags = unix.O_RDWR | unix.O_CLOEXEC | unix.O_NONBLOCK | unix.O_NOCTTY

// Try takes the lock with a name in a folder. It makes the lock file with the given
// mode if there is none. It never waits: it returns nil if another process, or another
// Lock of this one, holds the lock, and ErrUnsupported if locks do not work there. If
// the folder does not exist, the error is fs.ErrNotExist.
//
// sign returns the text to write into the file for those who wait (see Read). It may
// be nil. Writing is best effort.
//
// The last holder may remove the file between opening and locking. Then the lock
// guards nothing, and Try starts again.
func Try(folder Folder, name string, mode fs.FileMode, sign func() string) (*Lock, error) {
	for range 10 {
		rise()
		l, again, err := try(folder, name+Suffix, mode, sign)
		if l == nil {
			fall()
		}
		if !again {
			return l, err
		}
	}
	return nil, nil // the holders change too fast: as good as held
}

func try(folder Folder, file string, mode fs.FileMode, sign func() string) (l *Lock, again bool, err error) {
	dir, err := folder()
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, false, err
		}
		return nil, false, unsupported(err)
	}
	defer unix.Close(dir)
	fd, st, err := openFile(dir, file, flags|unix.O_CREAT, mode)
	if err != nil {
		return nil, false, unsupported(err)
	}
	defer unix.Close(fd)
	f, err := lock(fd)
	if f == nil {
		return nil, false, unsupported(err)
	}
	same, err := isAt(dir, file, &st)
	if err != nil {
		// Trying again would end in "held", and a caller would wait for ever.
		unlock(f)
		return nil, false, unsupported(err)
	}
	if !same {
		unlock(f)
		return nil, true, nil
	}
	if fs.FileMode(st.Mode).Perm() != mode.Perm() {
		// A umask must not keep out the other users of a shared directory.
		unix.Fchmod(fd, uint32(mode.Perm()))
	}
	if sign != nil {
		writeContent(fd, sign(), st.Size)
	}
	return &Lock{f, folder, file}, false, nil
}

// openFile opens a file in an open folder. It fails if that is not a regular file.
func openFile(dir int, file string, flags int, mode fs.FileMode) (fd int, st unix.Stat_t, err error) {
	for err = unix.EINTR; err == unix.EINTR; { // a signal of the host's, over FUSE or NFS
		fd, err = unix.Openat(dir, file, flags|unix.O_NOFOLLOW, uint32(mode.Perm()))
	}
	if err != nil {
		return -1, st, &fs.PathError{Op: "open", Path: file, Err: err}
	}
	for err = unix.EINTR; err == unix.EINTR; {
		err = unix.Fstat(fd, &st)
	}
	if err == nil && checkRegular && (st.Mode&unix.S_IFMT != unix.S_IFREG || st.Nlink > 1) {
		err = ErrNoFile
	}
	if err != nil {
		unix.Close(fd)
		return -1, st, &fs.PathError{Op: "open", Path: file, Err: err}
	}
	return fd, st, nil
}

// lock locks an open file. It returns nil if the lock is held or there is an error.
// Package flock opens files by their paths, so it gets a path that leads to this very
// file; without /proc there are no locks.
func lock(fd int) (*flock.Flock, error) {
	f := flock.New("/proc/self/fd/"+strconv.Itoa(fd), flock.SetFlag(flags))
	ok, err := f.TryLock()
	for errors.Is(err, unix.EINTR) {
		ok, err = f.TryLock()
	}
	if !ok {
		return nil, err
	}
	return f, nil
}

// isAt reports whether a name still leads to the file that st describes.
func isAt(dir int, file string, st *unix.Stat_t) (bool, error) {
	var there unix.Stat_t
	err := error(unix.EINTR)
	for err == unix.EINTR {
		err = unix.Fstatat(dir, file, &there, unix.AT_SYMLINK_NOFOLLOW)
	}
	if err != nil && err != unix.ENOENT {
		return false, &fs.PathError{Op: "stat", Path: file, Err: err}
	}
	return err == nil && st.Dev == there.Dev && st.Ino == there.Ino || !checkSame, nil
}

// unsupported returns Try's error for one that will not go away; nil for nil.
func unsupported(err error) error {
	if err == nil || !sayUnsupported {
		return nil
	}
	return errors.Join(ErrUnsupported, err)
}

// writeContent replaces the content of a lock file, which has size bytes.
func writeContent(fd int, text string, size int64) {
	if !FitsLimit(int64(len(text))) {
		return
	}
	n, err := unix.Pwrite(fd, []byte(text), 0)
	// Cut off the rest of a dead holder's text. O_TRUNC would do it too, but ext4
	// flushes a file that was emptied to the disk at close, which costs 300 us.
	if err == nil && size > int64(n) {
		unix.Ftruncate(fd, int64(n))
	}
}

// maxText bounds the text that is read from a lock file: an owner, a time, the name of
// a key.
const maxText = 4096

// Read returns the text that the holder of a lock has written into its file, and when.
// The time is the file system's: others may write any time into the text, but cannot
// set this one. The error is fs.ErrNotExist if there is no file.
func Read(folder Folder, name string) (text string, changed time.Time, err error) {
	dir, err := folder()
	if err != nil {
		return "", changed, err
	}
	defer unix.Close(dir)
	fd, st, err := openFile(dir, name+Suffix, flags&^unix.O_RDWR|unix.O_RDONLY, 0)
	if err != nil {
		return "", changed, err
	}
	defer unix.Close(fd)
	buf, n := make([]byte, maxText), 0
	for err = unix.EINTR; err == unix.EINTR; {
		n, err = unix.Read(fd, buf)
	}
	return string(buf[:max(n, 0)]), time.Unix(st.Ctim.Unix()), err
}

// Unlock gives the lock up and leaves the file.
func (l *Lock) Unlock() {
	unlock(l.f)
	fall()
}

// unlock unlocks and closes. Package flock does not close if unlocking fails, so it is
// called again if a signal has interrupted it.
func unlock(f *flock.Flock) {
	for errors.Is(f.Unlock(), unix.EINTR) {
	}
}

// Remove removes the file, then gives the lock up.
func (l *Lock) Remove() {
	if dir, err := l.folder(); err == nil {
		unix.Unlinkat(dir, l.file, 0)
		unix.Close(dir)
	}
	l.Unlock()
}

// Descriptor returns the path of the lock's file, and the descriptor that holds the
// lock; "" and -1 if it cannot be found. A program that this process becomes holds the
// lock if it gets the descriptor.
func (l *Lock) Descriptor() (path string, fd int) {
	mine, err := l.f.Stat()
	if err != nil {
		return "", -1
	}
	fds, _ := os.ReadDir("/proc/self/fd")
	for _, entry := range fds {
		fd, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		link := "/proc/self/fd/" + entry.Name()
		if st, err := os.Stat(link); err == nil && os.SameFile(st, mine) {
			path, _ := os.Readlink(link)
			return path, fd
		}
	}
	return "", -1
}
