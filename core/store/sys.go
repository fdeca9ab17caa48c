// System calls of the store, repeated when a signal interrupts them; tests make them fail.

package store

import (
	"errors"
	"runtime"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"jitcache/core/lockfile"
)

// All system calls that touch the cache directory are here and in at_syscalls.go, so that tests
// can make each fail in turn (see Fault). They are raw: os.File uses the runtime's
// poller, which adds five system calls to an open and a close (measured for 4 KiB:
// os.ReadFile 7.7 us, these 3.9).

// Op names a system call for Fault.
type Op string

// The operations that a Fault can be asked about.
const (
	OpOpen   Op = "open"
	OpStat   Op = "stat"
	OpRead   Op = "read"
	OpWrite  Op = "write"
	OpSync   Op = "sync"
	OpClose  Op = "close"
	OpTouch  Op = "touch"
	OpChmod  Op = "chmod"
	OpRename Op = "rename"
	OpUnlink Op = "unlink"
	OpMkdir  Op = "mkdir"
	OpLink   Op = "link"
	OpList   Op = "list"
)

// Fault, if set, is called before each system call. If it returns an errno, the call
// fails with it; a limit of 0 or more cuts a read or write to that many bytes. Only
// tests set it.
var Fault func(op Op, path string) (errno syscall.Errno, limit int)

func fault(op Op, path string) syscall.Errno {
	if Fault == nil {
		return 0
	}
	e, _ := Fault(op, path)
	return e
}

func limited(op Op, p []byte) ([]byte, syscall.Errno) {
	if Fault == nil {
		return p, 0
	}
	e, n := Fault(op, "")
	if e == 0 && n >= 0 && n < len(p) {
		p = p[:n]
	}
	return p, e
}

// flagsRead are the flags for reading an entry. With O_NONBLOCK a FIFO in its place does
// not block; with O_NOCTTY a terminal there does not become ours.
const flagsRead = unix.O_RDONLY | unix.O_CLOEXEC | unix.O_NONBLOCK | unix.O_NOCTTY

// haveOpenat2 is cleared if the kernel (before 5.6) lacks openat2 or a seccomp
// filter refuses it.
var haveOpenat2 atomic.Bool

func init() { haveOpenat2.Store(true) }

// openPath opens an absolute path that ends in a NUL and has no symbolic links. It
// returns ENOSYS if the kernel has no openat2. blocks says whether to tell the scheduler
// that the call may take long. Telling it costs 50 ns, a tenth of a miss, so it is not
// told for entries on a local file system; then the call may keep one of the runtime's
// processors while a cold directory is read.
func openPath(path []byte, flags int, mode uint32, blocks bool) (int, syscall.Errno) {
	how := unix.OpenHow{Flags: uint64(flags), Mode: uint64(mode), Resolve: unix.RESOLVE_NO_SYMLINKS}
	if !refuseLinks {
		how.Resolve = 0
	}
	for {
		if Fault != nil {
			if e := fault(OpOpen, string(path[:len(path)-1])); e != 0 {
				if e == unix.EINTR {
					continue
				}
				return -1, e
			}
		}
		var fd uintptr
		var e syscall.Errno
		if blocks {
			fd, _, e = syscall.Syscall6(unix.SYS_OPENAT2, ^uintptr(99), uintptr(unsafe.Pointer(&path[0])),
				uintptr(unsafe.Pointer(&how)), unsafe.Sizeof(how), 0, 0)
		} else {
			fd, _, e = syscall.RawSyscall6(unix.SYS_OPENAT2, ^uintptr(99), uintptr(unsafe.Pointer(&path[0])),
				uintptr(unsafe.Pointer(&how)), unsafe.Sizeof(how), 0, 0)
		}
		if e == unix.ENOSYS || e == unix.EPERM && !openat2Works() {
			haveOpenat2.Store(false)
			return -1, unix.ENOSYS
		}
		runtime.KeepAlive(path)
		if e == unix.EINTR {
			continue
		}
		if e != 0 {
			return -1, e
		}
		return int(fd), 0
	}
}

// openat2Works says whether openat2 works at all. If so, an EPERM was about the file, and
// not from a filter of system calls.
func openat2Works() bool {
	fd, err := unix.Openat2(unix.AT_FDCWD, "/", &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC})
	if err != nil {
		return false
	}
	unix.Close(fd)
	return true
}

func fstat(fd int, st *syscall.Stat_t) syscall.Errno {
	for {
		e := fault(OpStat, "")
		if e == 0 {
			_, _, e = syscall.RawSyscall(unix.SYS_FSTAT, uintptr(fd), uintptr(unsafe.Pointer(st)), 0)
		}
		if e != unix.EINTR {
			return e
		}
	}
}

func closeFd(fd int) syscall.Errno {
	// The call is made even if a test wants it to fail: the test wants an error, not
	// a leak.
	_, _, e := syscall.RawSyscall(unix.SYS_CLOSE, uintptr(fd), 0, 0)
	if f := fault(OpClose, ""); f != 0 {
		e = f
	}
	if e == unix.EINTR {
		return 0 // it is closed, and must not be closed again
	}
	return e
}

// abandon closes a file with which something has failed.
func abandon(fd int) {
	if closeFailed {
		closeFd(fd)
	}
}

// again repeats a call as long as a signal interrupts it: the host may use any signals,
// and on FUSE and NFS any call may return EINTR. If the interrupted call had done its
// work, the repeated one finds it done (EEXIST, ENOENT), which at worst costs a put.
func again(op Op, path string, call func() error) syscall.Errno {
	for {
		e := fault(op, path)
		if e == 0 {
			e = errno(call())
		}
		if e != unix.EINTR || !callAgain {
			return e
		}
	}
}

// readFull reads len(p) bytes at the file's offset. It returns fewer only at the end of
// the file or with an error.
func readFull(fd int, p []byte) (int, syscall.Errno) { return readOrPread(fd, p, -1) }

// preadFull is readFull at the offset off.
func preadFull(fd int, p []byte, off int64) (int, syscall.Errno) { return readOrPread(fd, p, off) }

// readOrPread is readFull if off is negative, else preadFull.
func readOrPread(fd int, p []byte, off int64) (int, syscall.Errno) {
	n := 0
	for n < len(p) {
		q, e := limited(OpRead, p[n:])
		if e == unix.EINTR {
			continue
		}
		if e != 0 {
			return n, e
		}
		var c uintptr
		if off < 0 {
			c, _, e = syscall.Syscall(unix.SYS_READ, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(q))), uintptr(len(q)))
		} else {
			c, _, e = syscall.Syscall6(unix.SYS_PREAD64, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(q))), uintptr(len(q)),
				uintptr(off)+uintptr(n), 0, 0)
		}
		if e == unix.EINTR {
			continue
		}
		if e != 0 {
			return n, e
		}
		n += int(c)
		if c == 0 && len(q) > 0 || !goOn {
			return n, 0
		}
	}
	return n, 0
}

// fitsLimits reports whether the process may make a file of a size.
func fitsLimits(size int64) bool { return lockfile.FitsLimit(size) || !checkLimit }

// writeAll writes the parts, one after the other, into a new file.
func writeAll(fd int, parts ...[]byte) syscall.Errno {
	size := 0
	for _, p := range parts {
		size += len(p)
	}
	if !fitsLimits(int64(size)) {
		return unix.EFBIG
	}
	for {
		for len(parts) > 0 && len(parts[0]) == 0 {
			parts = parts[1:]
		}
		if len(parts) == 0 {
			return 0
		}
		n, e := writeSome(fd, parts)
		if e == unix.EINTR {
			continue
		}
		if e != 0 || !goOn {
			return e
		}
		for n > 0 {
			c := min(n, len(parts[0]))
			parts[0] = parts[0][c:]
			n -= c
			if len(parts[0]) == 0 {
				parts = parts[1:]
			}
		}
	}
}

func writeSome(fd int, parts [][]byte) (int, syscall.Errno) {
	want := len(parts[0])
	if Fault != nil {
		q, e := limited(OpWrite, parts[0])
		if e != 0 {
			return 0, e
		}
		if len(q) < len(parts[0]) {
			parts = [][]byte{q}
		}
	}
	n, err := unix.Writev(fd, parts)
	if err != nil {
		return 0, err.(syscall.Errno)
	}
	if n == 0 && want > 0 {
		return 0, unix.ENOSPC // the write has written nothing and reported no error
	}
	return n, 0
}

func pwriteAll(fd int, p []byte, off int64) syscall.Errno {
	if !fitsLimits(off + int64(len(p))) {
		return unix.EFBIG
	}
	for len(p) > 0 {
		q, e := limited(OpWrite, p)
		if e == unix.EINTR {
			continue
		}
		if e != 0 {
			return e
		}
		n, err := unix.Pwrite(fd, q, off)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return err.(syscall.Errno)
		}
		if n == 0 {
			return unix.ENOSPC
		}
		p, off = p[n:], off+int64(n)
	}
	return 0
}

// touch sets both time stamps of an open file, in nanoseconds since 1970.
func touch(fd int, ns int64) syscall.Errno {
	if e := fault(OpTouch, ""); e != 0 {
		return e // best effort: not even EINTR is repeated
	}
	ts := [2]unix.Timespec{unix.NsecToTimespec(ns), unix.NsecToTimespec(ns)}
	_, _, e := syscall.RawSyscall6(unix.SYS_UTIMENSAT, uintptr(fd), 0, uintptr(unsafe.Pointer(&ts[0])), 0, 0, 0)
	if e == unix.EPERM || e == unix.EACCES {
		// The file is another user's. If this user may write it, as in a shared
		// directory, the kernel allows setting it to the present time.
		_, _, e = syscall.RawSyscall6(unix.SYS_UTIMENSAT, uintptr(fd), 0, 0, 0, 0, 0)
	}
	return e
}

func fsync(fd int) syscall.Errno {
	return again(OpSync, "", func() error { return unix.Fsync(fd) })
}

func fchmod(fd int, mode uint32) syscall.Errno {
	return again(OpChmod, "", func() error { return unix.Fchmod(fd, mode) })
}

func mkdirat(dir int, name string, mode uint32) syscall.Errno {
	return again(OpMkdir, name, func() error { return unix.Mkdirat(dir, name, mode) })
}

func linkat(fromDir int, from string, toDir int, to string) syscall.Errno {
	return again(OpLink, to, func() error { return unix.Linkat(fromDir, from, toDir, to, 0) })
}

func errno(err error) syscall.Errno {
	if err == nil {
		return 0
	}
	var e syscall.Errno
	if errors.As(err, &e) {
		return e
	}
	return unix.EIO
}

// reasonOf returns the reason for a system call that failed in a lookup or a put.
func reasonOf(e syscall.Errno) Reason {
	switch e {
	case 0:
		return None
	case unix.ENOENT:
		return Absent
	case unix.ELOOP:
		return Symlink
	case unix.EACCES, unix.EPERM:
		return Permission
	case unix.EROFS:
		return ReadOnly
	case unix.ENOSPC, unix.EDQUOT, unix.EFBIG:
		return NoSpace
	case unix.EMFILE, unix.ENFILE:
		return Descriptors
	case unix.ENOMEM:
		return NoMemory
	case unix.ENXIO, unix.EISDIR, unix.ENOTDIR:
		return NotRegular
	}
	return IO
}
