// Opens, makes and replaces files below the root, through no symbolic link.

package store

import (
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"

	"jitcache/core/lockfile"
)

// Files below the root are opened in one of two ways: by openBelow, or from the
// descriptor of their folder, which openBelow has opened. Neither follows a symbolic
// link. So a directory that others may write leads nowhere else.

// openBelow opens a path; none of its components below the root may be a symbolic
// link. The path is absolute and ends in a NUL. It never waits, even if there is a
// FIFO at the path.
func (s *Store) openBelow(path []byte, flags int, mode uint32) (int, syscall.Errno) {
	return openNoLinks(s.root, path, flags|unix.O_CLOEXEC|unix.O_NONBLOCK|unix.O_NOCTTY, mode, s.mount.Network)
}

// openNoLinks opens an absolute path; none of its components below root may be a
// symbolic link.
func openNoLinks(root string, path []byte, flags int, mode uint32, blocks bool) (int, syscall.Errno) {
	if haveOpenat2.Load() {
		fd, e := openPath(path, flags, mode, blocks)
		if e != unix.ENOSYS {
			return fd, e
		}
	}
	return walk(root, path, flags, mode)
}

// walk is openNoLinks for kernels before 5.6 and for filters that refuse openat2:
// it opens one folder after the other.
func walk(root string, path []byte, flags int, mode uint32) (int, syscall.Errno) {
	const folder = unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC
	rest := strings.TrimPrefix(string(path[len(root):len(path)-1]), "/")
	if rest == "" {
		return openat(atCwd, root, flags, mode)
	}
	at, e := openat(atCwd, root, folder, 0)
	if e != 0 {
		return -1, e
	}
	for {
		name, more, isFolder := strings.Cut(rest, "/")
		if !isFolder {
			fd, e := openNoLink(at, name, flags, mode)
			closeFd(at)
			return fd, e
		}
		next, e := openNoLink(at, name, folder, 0)
		closeFd(at)
		if e != 0 {
			return -1, e
		}
		at, rest = next, more
	}
}

// openNoLink opens a name in an open folder. It returns ELOOP for a symbolic link,
// also for one to a folder, where the kernel returns ENOTDIR.
func openNoLink(dir int, name string, flags int, mode uint32) (int, syscall.Errno) {
	if refuseLinks {
		flags |= unix.O_NOFOLLOW
	}
	fd, e := openat(dir, name, flags, mode)
	if e == unix.ENOTDIR {
		var st unix.Stat_t
		if fstatat(dir, name, &st) == 0 && st.Mode&unix.S_IFMT == unix.S_IFLNK {
			e = unix.ELOOP
		}
	}
	return fd, e
}

// openFolder opens a folder below the root, "" for the root itself.
func (s *Store) openFolder(rel string) (int, syscall.Errno) {
	path := s.root
	if rel != "" {
		path += "/" + rel
	}
	return s.folderAt(path)
}

// folderAt opens the folder at a path.
func (s *Store) folderAt(path string) (int, syscall.Errno) {
	if !opensAgain {
		return s.folderKeptOpen(path)
	}
	return s.openNow(path)
}

// openNow opens the folder at a path.
func (s *Store) openNow(path string) (int, syscall.Errno) {
	return s.openBelow([]byte(path+"\x00"), unix.O_RDONLY|unix.O_DIRECTORY, 0)
}

// openDirBelow opens a folder of v1 for the *at system calls, "" for v1 itself.
func (s *Store) openDirBelow(rel string) (int, syscall.Errno) {
	if rel == "" {
		return s.folderAt(s.v1)
	}
	return s.folderAt(s.v1 + "/" + rel)
}

// openToRead opens a file of v1 for reading. EPERM: this user does not trust it.
func (s *Store) openToRead(rel string) (fd int, size int64, e syscall.Errno) {
	fd, e = s.openBelow([]byte(s.v1+"/"+rel+"\x00"), flagsRead, 0)
	if e != 0 {
		return -1, 0, e
	}
	var st syscall.Stat_t
	if e = fstat(fd, &st); e == 0 && s.trust.checkEntry(&st) != None {
		e = unix.EPERM
	}
	if e != 0 {
		closeFd(fd)
		return -1, 0, e
	}
	return fd, st.Size, 0
}

// openToWrite opens a file of v1 for writing in place, and makes it if it is missing.
// It must be a trusted regular file without a second name; anything else at its place
// is moved to tmp.
func (s *Store) openToWrite(rel string) (fd int, size int64, e syscall.Errno) {
	for range 2 {
		fd, e := s.openBelow([]byte(s.v1+"/"+rel+"\x00"), unix.O_RDWR|unix.O_CREAT, s.mode)
		switch e {
		case 0:
			var st syscall.Stat_t
			if e = fstat(fd, &st); e == 0 && (st.Nlink <= 1 && s.trust.checkEntry(&st) == None || !checkRegular) {
				s.putMode(fd, &st)
				return fd, st.Size, 0
			}
			closeFd(fd)
			if e != 0 {
				return -1, 0, e
			}
		case unix.ELOOP, unix.EISDIR, unix.ENXIO: // a link, a folder, a socket
		default:
			return -1, 0, e
		}
		folder, name := filepath.Split(rel)
		dir, e := s.openDirBelow(strings.TrimSuffix(folder, "/"))
		if e != 0 {
			return -1, 0, e
		}
		e = s.putAside(dir, name)
		closeFd(dir)
		if e != 0 {
			return -1, 0, e
		}
	}
	return -1, 0, unix.EPERM
}

// putAside moves a name to tmp, where the sweep removes it.
func (s *Store) putAside(dir int, name string) syscall.Errno {
	tmp, e := s.openDirBelow("tmp")
	if e != 0 {
		return e
	}
	defer closeFd(tmp)
	return renameat(dir, name, tmp, s.tempName())
}

// makeDir makes a folder in an open one, with the mode of the root. It keeps an
// existing folder.
func (s *Store) makeDir(dir int, name string) syscall.Errno {
	e := mkdirat(dir, name, s.dirMode)
	if e == 0 && s.dirMode&0o077 != 0 {
		// The umask must not keep out users whom the root lets in. The setgid
		// bit comes from the parent; chmod by a user outside the group would
		// clear it.
		if fd, e := openNoLink(dir, name, unix.O_RDONLY|unix.O_DIRECTORY, 0); e == 0 {
			var st syscall.Stat_t
			if fstat(fd, &st) == 0 && st.Mode&0o777 != s.dirMode&0o777 {
				fchmod(fd, st.Mode&0o2000|s.dirMode&0o777)
			}
			closeFd(fd)
		}
	}
	if e == unix.EEXIST {
		return 0
	}
	return e
}

// writeNew makes a file in an open folder, with the mode of the directory's files.
// It fails if there is one.
func (s *Store) writeNew(dir int, name string, data []byte) syscall.Errno {
	fd, e := createAt(dir, name, s.mode)
	if e != 0 {
		return e
	}
	s.setMode(fd)
	e = writeAll(fd, data)
	if ec := closeFd(fd); e == 0 {
		e = ec
	}
	if e != 0 {
		unlinkat(dir, name, 0)
	}
	return e
}

func createAt(dir int, name string, mode uint32) (int, syscall.Errno) {
	return openat(dir, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW, mode)
}

// replaceFile gives a file in an open folder new content, by a rename.
func (s *Store) replaceFile(dir int, name string, data []byte) syscall.Errno {
	tmp, e := s.openDirBelow("tmp")
	if e != 0 {
		return e
	}
	defer closeFd(tmp)
	temp := s.tempName()
	if e = s.writeNew(tmp, temp, data); e != 0 {
		return e
	}
	if e = renameat(tmp, temp, dir, name); e != 0 {
		unlinkat(tmp, temp, 0)
	}
	return e
}

// setMode gives a new file the permissions that the umask has taken, if other users
// must use it.
func (s *Store) setMode(fd int) {
	if s.mode&0o066 == 0 {
		return
	}
	var st syscall.Stat_t
	if fstat(fd, &st) == 0 {
		s.putMode(fd, &st)
	}
}

func (s *Store) putMode(fd int, st *syscall.Stat_t) {
	if s.mode&0o066 != 0 && st.Mode&0o777 != s.mode {
		fchmod(fd, s.mode)
	}
}

// removeTree removes a file or folder in an open folder, with everything in it.
func removeTree(dir int, name string) syscall.Errno {
	e := unlinkat(dir, name, 0)
	if e != unix.EISDIR {
		return e
	}
	fd, e := openNoLink(dir, name, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if e != 0 {
		return e
	}
	names, err := readNames(fd)
	for _, below := range names {
		removeTree(fd, below)
	}
	closeFd(fd)
	if e := unlinkat(dir, name, unix.AT_REMOVEDIR); e != 0 || err == nil {
		return e
	}
	return errno(err)
}

// readNames reads a folder through a second descriptor, which it closes.
func readNames(dir int) ([]string, error) {
	if e := fault(OpList, ""); e != 0 && e != unix.EINTR { // package os repeats the call
		return nil, e
	}
	fd, e := openat(dir, ".", unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if e != 0 {
		return nil, e
	}
	d := os.NewFile(uintptr(fd), "entries")
	defer d.Close()
	return d.Readdirnames(-1)
}

// asError returns an errno as an error with a path, nil for 0.
func asError(op, path string, e syscall.Errno) error {
	if e == 0 {
		return nil
	}
	return &fs.PathError{Op: op, Path: path, Err: e}
}

// tempNames counts the names of all Stores of the process, because several may have
// the same directory open.
var tempNames atomic.Uint64

// tempName returns a name that no other process or call uses. It begins with this
// process as its owner.
func (s *Store) tempName() string {
	return lockfile.Self().String() + "." + strconv.FormatUint(tempNames.Add(1), 10)
}

// readSmall reads a file of the v1 folder, up to limit bytes.
func (s *Store) readSmall(name string, limit int) ([]byte, syscall.Errno) {
	fd, size, e := s.openToRead(name)
	if e != 0 {
		return nil, e
	}
	defer closeFd(fd)
	b := make([]byte, min(size, int64(limit)))
	n, e := readFull(fd, b)
	return b[:n], e
}

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
