// System calls that take an open folder and a name.

package store

import (
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// System calls on a name in an open folder: the most frequent ones of a put, and all
// of an eviction. Package unix would copy each name to Go's heap.

// cName is room for a name that ends in a NUL.
type cName [unix.NAME_MAX + 1]byte

// pointerTo writes a name to c and returns it. A path that is too long is copied to the heap.
func (c *cName) pointerTo(name string) (*byte, syscall.Errno) {
	if strings.IndexByte(name, 0) >= 0 {
		return nil, unix.EINVAL
	}
	if len(name) < len(c) {
		c[copy(c[:], name)] = 0
		return &c[0], 0
	}
	p, err := unix.BytePtrFromString(name)
	return p, errno(err)
}

func fstatat(dir int, name string, st *unix.Stat_t) syscall.Errno {
	var room cName
	p, e := room.pointerTo(name)
	if e != 0 {
		return e
	}
	for {
		if e = fault(OpStat, name); e == 0 {
			_, _, e = syscall.Syscall6(sysFstatat, uintptr(dir), uintptr(unsafe.Pointer(p)),
				uintptr(unsafe.Pointer(st)), unix.AT_SYMLINK_NOFOLLOW, 0, 0)
		}
		if e != unix.EINTR || !callAgain {
			return e
		}
	}
}

// openat opens a name in an open folder.
func openat(dir int, name string, flags int, mode uint32) (int, syscall.Errno) {
	var room cName
	p, e := room.pointerTo(name)
	if e != 0 {
		return -1, e
	}
	for {
		var fd uintptr
		if e = fault(OpOpen, name); e == 0 {
			fd, _, e = syscall.Syscall6(unix.SYS_OPENAT, uintptr(dir), uintptr(unsafe.Pointer(p)),
				uintptr(flags|unix.O_CLOEXEC|unix.O_LARGEFILE), uintptr(mode), 0, 0)
		}
		if e == 0 {
			return int(fd), 0
		}
		if e != unix.EINTR || !callAgain {
			return -1, e
		}
	}
}

func unlinkat(dir int, name string, flags int) syscall.Errno {
	var room cName
	p, e := room.pointerTo(name)
	if e != 0 {
		return e
	}
	for {
		if e = fault(OpUnlink, name); e == 0 {
			_, _, e = syscall.Syscall(unix.SYS_UNLINKAT, uintptr(dir), uintptr(unsafe.Pointer(p)), uintptr(flags))
		}
		if e != unix.EINTR || !callAgain {
			return e
		}
	}
}

func renameat(fromDir int, from string, toDir int, to string) syscall.Errno {
	return renameat2(fromDir, from, toDir, to, 0)
}

// renameat2 renames. With unix.RENAME_NOREPLACE it fails with EEXIST if there is a file
// under the new name. Without flags every kernel and file system has this call.
func renameat2(fromDir int, from string, toDir int, to string, flags uintptr) syscall.Errno {
	var fromRoom, toRoom cName
	p, e := fromRoom.pointerTo(from)
	if e != 0 {
		return e
	}
	q, e := toRoom.pointerTo(to)
	if e != 0 {
		return e
	}
	call := uintptr(unix.SYS_RENAMEAT)
	if flags != 0 {
		call = unix.SYS_RENAMEAT2
	}
	for {
		if e = fault(OpRename, to); e == 0 {
			_, _, e = syscall.Syscall6(call, uintptr(fromDir), uintptr(unsafe.Pointer(p)),
				uintptr(toDir), uintptr(unsafe.Pointer(q)), flags, 0)
		}
		if e != unix.EINTR || !callAgain {
			return e
		}
	}
}
