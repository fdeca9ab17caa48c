// Package stamp tells from the results of stat whether a file can have changed.
//
// A file's numbers and times prove that it is the same only if the kernel sets the
// time of each change. Files of images and layers have the times that the maker chose.
// If two images are mounted in turn at one path, their files can agree in everything
// that stat returns and differ in content. So a stamp says on which mount a file was,
// or that the stamp proves nothing; then the file's content decides.
package stamp

import (
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Stamp is the result of stat for a file, and when it was made. With it a later check can
// tell, without reading the file, whether the file can have changed.
type Stamp struct {
	Dev, Ino, Size uint64
	Mtime, Ctime   int64 // nanoseconds since 1970
	Read           int64 // likewise: just before the call of stat
	// Mount identifies the mount that the file was on, if the other fields do not suffice:
	// two images that are mounted in turn at one path can agree in all of them. A time of
	// change without nanoseconds is not the kernel's, but from the maker of a disk image,
	// and machines may have different images; for such a file Mount identifies the boot.
	// 0: the other fields suffice; NoMount: the stamp proves nothing.
	Mount uint64
}

// NoMount is the Mount of a stamp that proves nothing.
const NoMount = ^uint64(0)

// A file's time stamps prove nothing about edits that follow its last change
// within one tick of the file system's clock. Linux takes that clock from the
// timer interrupt, 1 to 10 ms apart (3 distinct stamps in 300 writes were
// measured); file systems without nanoseconds, and NFS servers, count whole
// seconds or two.
const (
	FineTick   = int64(50 * time.Millisecond)
	coarseTick = int64(2 * time.Second)
)

// Same reports whether two stamps are equal, apart from Read.
func (s *Stamp) Same(now *Stamp) bool {
	return s.Ino == now.Ino && s.Ctime == now.Ctime && s.Mtime == now.Mtime && s.Size == now.Size && s.Dev == now.Dev &&
		s.Mount == now.Mount
}

// Proves reports whether an equal later stamp means that the file is the same. It does
// not if the stamp was made soon after a change, or if the file system's time stamps
// cannot be trusted.
func (s *Stamp) Proves() bool {
	tick := FineTick
	if s.Mtime%int64(time.Second) == 0 && s.Ctime%int64(time.Second) == 0 {
		tick = coarseTick
	}
	return s.Mount != NoMount && (max(s.Mtime, s.Ctime) <= s.Read-tick || !readsFresh)
}

// Status is a result of statx. One Status can be used for many files.
type Status struct {
	Stamp Stamp
	// Read becomes Stamp.Read. The caller sets it, just before it opens the file.
	Read int64
	// Expected is the device that the caller expects the file on, 0 for none. If it is a
	// disk, which answers at once, the scheduler is not told that the call may block,
	// which saves a tenth of a microsecond.
	Expected uint64
	st       unix.Statx_t
	names    bool
}

// mountUnique asks for an id that no mount has had before (Linux 6.8).
const mountUnique = 0x4000

// Mode returns the file's type and permissions, as stat has them.
func (s *Status) Mode() uint32 { return uint32(s.st.Mode) }

// Kind returns the file's type, one of unix.S_IF….
func (s *Status) Kind() uint32 { return uint32(s.st.Mode) & unix.S_IFMT }

// Owner returns the file's user in the upper half, and its group in the lower half.
func (s *Status) Owner() uint64 { return uint64(s.st.Uid)<<32 | uint64(s.st.Gid) }

// Device returns the numbers of a device, the major one in the upper half, the minor one in
// the lower half; 0 for anything else.
func (s *Status) Device() uint64 { return uint64(s.st.Rdev_major)<<32 | uint64(s.st.Rdev_minor) }

// Unique returns the id of the mount, 0 if the kernel has no ids that it never reuses.
func (s *Status) Unique() uint64 {
	if s.st.Mask&mountUnique != 0 {
		return s.st.Mnt_id
	}
	return 0
}

// At asks about the file at a path, which ends in a NUL. flags are those of statx.
func (s *Status) At(path []byte, flags int) syscall.Errno {
	return s.ask(unix.AT_FDCWD, path, flags, path)
}

// Of asks about an open file.
func (s *Status) Of(f *os.File) error {
	if errno := s.OfDescriptor(int(f.Fd())); errno != 0 {
		return &os.PathError{Op: "stat", Path: f.Name(), Err: errno}
	}
	return nil
}

// OfDescriptor asks about the open file that a descriptor stands for.
func (s *Status) OfDescriptor(fd int) syscall.Errno {
	return s.ask(fd, []byte{0}, unix.AT_EMPTY_PATH, nil)
}

// ask calls statx, and finds out by path, or by fd if path is nil, how far the stamp can
// be trusted.
func (s *Status) ask(fd int, name []byte, flags int, path []byte) syscall.Errno {
	// AT_STATX_SYNC_AS_STAT is 0: the same answer as stat.
	const mask = unix.STATX_BASIC_STATS | mountUnique
	var errno syscall.Errno
	if unix.Major(s.Expected) != 0 { // it is 0 for network file systems, and for anything but a disk
		_, _, errno = syscall.RawSyscall6(unix.SYS_STATX, uintptr(fd), uintptr(unsafe.Pointer(&name[0])), uintptr(flags),
			mask, uintptr(unsafe.Pointer(&s.st)), 0)
	} else {
		_, _, errno = syscall.Syscall6(unix.SYS_STATX, uintptr(fd), uintptr(unsafe.Pointer(&name[0])), uintptr(flags),
			mask, uintptr(unsafe.Pointer(&s.st)), 0)
	}
	if errno == syscall.ENOSYS || errno == syscall.EPERM {
		errno = s.askOld(fd, name, flags)
	}
	if errno != 0 {
		return errno
	}
	s.Stamp = Stamp{
		Dev: unix.Mkdev(s.st.Dev_major, s.st.Dev_minor), Ino: s.st.Ino, Size: s.st.Size,
		Mtime: s.st.Mtime.Sec*1e9 + int64(s.st.Mtime.Nsec), Ctime: s.st.Ctime.Sec*1e9 + int64(s.st.Ctime.Nsec),
		Read: s.Read,
	}
	v := mounts.vouch(fd, path, s.Stamp.Dev, s.Unique())
	s.Stamp.Mount, s.names = v.of(s.Stamp.Ctime), v.names
	return 0
}

// askOld asks without statx, which kernels before 4.11 and some containers lack.
func (s *Status) askOld(fd int, name []byte, flags int) syscall.Errno {
	var old unix.Stat_t
	if err := unix.Fstatat(fd, unix.ByteSliceToString(name), &old, flags); err != nil {
		errno, _ := err.(syscall.Errno)
		return errno
	}
	s.st = unix.Statx_t{
		Mode: uint16(old.Mode), Uid: old.Uid, Gid: old.Gid, Ino: old.Ino, Size: uint64(old.Size), Dev_major: unix.Major(old.Dev), Dev_minor: unix.Minor(old.Dev),
		Rdev_major: unix.Major(old.Rdev), Rdev_minor: unix.Minor(old.Rdev),
		Mtime: unix.StatxTimestamp{Sec: old.Mtim.Sec, Nsec: uint32(old.Mtim.Nsec)},
		Ctime: unix.StatxTimestamp{Sec: old.Ctim.Sec, Nsec: uint32(old.Ctim.Nsec)},
	}
	return 0
}

// NamesProved reports whether the stamp of a folder proves that the names in it are the
// same.
func (s *Status) NamesProved() bool { return s.names }
