// Package lockfile locks files between processes. It is the one place that
// knows gofrs/flock.
//
// A lock is flock(2) on a file that exists for it: the kernel gives it up when
// its holder dies, however it dies. Locks here only ever save work; nothing in
// jitcache is wrong without them.
//
// Others may write the folder of locks. So a lock file is opened from a descriptor
// of its folder and never through a link, opening it waits for nobody, and only a
// regular file is locked, written or read.
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

// ErrUnsupported is returned if the file system cannot lock, or no lock file can
// be made. The caller goes on without a lock.
var ErrUnsupported = errors.New("locks are not supported here")

// ErrNoFile is part of ErrUnsupported for what is not a regular file, or has a
// second name.
var ErrNoFile = errors.New("not a regular file of one name")

// Folder opens the folder of the lock files. Its caller closes the descriptor.
// It is called again to remove a file: a host may close every descriptor that it
// did not open, so only the lock's own is kept.
type Folder func() (fd int, err error)

// Lock is a lock that is held.
type Lock struct {
	f      *flock.Flock
	folder Folder
	file   string
}

// flags of a lock file. O_RDWR, because flock on NFS needs a file open for
// writing; O_NONBLOCK: a FIFO in its place must not wait for a reader.
const flags = unix.O_RDWR | unix.O_CLOEXEC | unix.O_NONBLOCK | unix.O_NOCTTY

// Try takes the lock with a name in a folder, creating its file with the given
// mode if need be. It never waits: it returns nil if another process, or another
// Lock of this one, holds it, and ErrUnsupported if locks do not work there.
// A folder that does not exist is fs.ErrNotExist.
//
// sign, which may be nil, returns what the file says to those who wait; see
// Read. It is best effort.
//
// The file may have been removed by its last holder between opening and
// locking; then the lock guards nothing, and Try starts again.
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
	return nil, nil // others come and go too fast: as good as held
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
	fd, st, err := open(dir, file, flags|unix.O_CREAT, mode)
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
		// Not "again", which ends as "held by somebody": nobody would ever release it.
		unlock(f)
		return nil, false, unsupported(err)
	}
	if !same {
		unlock(f)
		return nil, true, nil
	}
	if fs.FileMode(st.Mode).Perm() != mode.Perm() {
		// A umask must not keep the others of a shared directory out.
		unix.Fchmod(fd, uint32(mode.Perm()))
	}
	if sign != nil {
		write(fd, sign(), st.Size)
	}
	return &Lock{f, folder, file}, false, nil
}

// open opens a file of an open folder, if it is one.
func open(dir int, file string, flags int, mode fs.FileMode) (fd int, st unix.Stat_t, err error) {
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

// lock locks an open file; nil if somebody else has it, or with an error. Package
// flock opens files by their paths, so it gets a path that leads to this very
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

// isAt reports whether a file is still the one under its name.
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

// unsupported is what Try returns for an error that will not pass.
func unsupported(err error) error {
	if err == nil || !sayUnsupported {
		return nil
	}
	return errors.Join(ErrUnsupported, err)
}

// write replaces the content of a lock file of a size.
func write(fd int, text string, size int64) {
	if !FitsLimit(int64(len(text))) {
		return
	}
	n, err := unix.Pwrite(fd, []byte(text), 0)
	// Cut off what a dead holder has left. Not by O_TRUNC: ext4 flushes an emptied
	// file to the disk when it is closed, which costs 300 us.
	if err == nil && size > int64(n) {
		unix.Ftruncate(fd, int64(n))
	}
}

// maxText bounds what is read of a lock file: an owner, a time, the name of a key.
const maxText = 4096

// Read returns what the holder of a lock has written into its file, and when, by
// the clock of the file system: others may write any time into the file, but cannot
// set this one. fs.ErrNotExist if there is no file.
func Read(folder Folder, name string) (text string, changed time.Time, err error) {
	dir, err := folder()
	if err != nil {
		return "", changed, err
	}
	defer unix.Close(dir)
	fd, st, err := open(dir, name+Suffix, flags&^unix.O_RDWR|unix.O_RDONLY, 0)
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

// unlock unlocks and closes. Package flock does not close if unlocking fails; a
// signal that interrupts it must not leave the lock with this process.
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
// lock: "" and -1 if it cannot be found. A program that this process becomes, and
// that is given the descriptor, holds the lock then.
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
