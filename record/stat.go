package record

import (
	"encoding/binary"
	"os"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"jitcache/core/key"
)

// Stamp is what stat said of a file, and when. It tells a later look whether the
// file can have changed without reading it.
type Stamp struct {
	Dev, Ino, Size uint64
	Mtime, Ctime   int64 // nanoseconds since 1970
	Read           int64 // the same: just before it was asked for
	// Mount says which mount the file was on, where the other fields do not do: two
	// images that are mounted in turn at one path can agree in all of them. A time of
	// change without nanoseconds is not the kernel's but that of the maker of a disk's
	// image, on which machines differ: there Mount says which boot it was. 0: the
	// fields do; noMount: nothing vouches for them.
	Mount uint64
}

// noMount is the Mount of a stamp that proves nothing.
const noMount = ^uint64(0)

// A file's time stamps prove nothing about edits that follow its last change
// within one tick of the file system's clock: package key has the measurements.
const (
	fineTick   = int64(50 * time.Millisecond)
	coarseTick = int64(2 * time.Second)
)

// Same reports whether both are of one file that has not changed in between.
func (s *Stamp) Same(now *Stamp) bool {
	return s.Ino == now.Ino && s.Ctime == now.Ctime && s.Mtime == now.Mtime && s.Size == now.Size && s.Dev == now.Dev &&
		s.Mount == now.Mount
}

// Proves reports whether a later stamp that is the same means that the file is:
// not so soon after a change, and not where nobody vouches for time stamps.
func (s *Stamp) Proves() bool {
	tick := fineTick
	if s.Mtime%int64(time.Second) == 0 && s.Ctime%int64(time.Second) == 0 {
		tick = coarseTick
	}
	return s.Mount != noMount && (max(s.Mtime, s.Ctime) <= s.Read-tick || !readsFresh)
}

// status is one answer of statx.
type status struct {
	st    unix.Statx_t
	stamp Stamp
	read  int64
}

// mountUnique asks for an id that no mount has had before (Linux 6.8).
const mountUnique = 0x4000

func (s *status) mode() uint32 { return uint32(s.st.Mode) }
func (s *status) kind() uint32 { return uint32(s.st.Mode) & unix.S_IFMT }

// at asks what is at a path, which ends in a NUL.
func (s *status) at(path []byte, flags int) syscall.Errno {
	// AT_STATX_SYNC_AS_STAT is 0: what stat would say.
	dir := unix.AT_FDCWD
	_, _, errno := syscall.Syscall6(unix.SYS_STATX, uintptr(dir), uintptr(unsafe.Pointer(&path[0])), uintptr(flags),
		unix.STATX_BASIC_STATS|mountUnique, uintptr(unsafe.Pointer(&s.st)), 0)
	if errno == 0 {
		s.stamp = Stamp{
			Dev: unix.Mkdev(s.st.Dev_major, s.st.Dev_minor), Ino: s.st.Ino, Size: s.st.Size,
			Mtime: s.st.Mtime.Sec*1e9 + int64(s.st.Mtime.Nsec), Ctime: s.st.Ctime.Sec*1e9 + int64(s.st.Ctime.Nsec),
			Read: s.read,
		}
		unique := uint64(0)
		if s.st.Mask&mountUnique != 0 {
			unique = s.st.Mnt_id
		}
		s.stamp.Mount = mounts.identity(path, s.stamp.Dev, unique)
		if s.stamp.Mount == 0 {
			s.stamp.Mount = identify(&s.stamp)
		}
	}
	return errno
}

// identify returns the Mount of a stamp on a file system that vouches for itself.
func identify(s *Stamp) uint64 {
	if doubtsImages && s.Ctime%int64(time.Second) == 0 {
		return mounts.ofBoot(s.Dev)
	}
	return 0
}

// ---- which file systems vouch for their time stamps

// trust is how far a file system's time stamps go.
type trust uint8

const (
	// own: the kernel, or a server that is one, sets the time of each change.
	own trust = iota + 1
	// mounted: as long as it is one mount; another may have equal stamps. Images and
	// layers are made with the times that their maker wanted.
	mounted
)

// File systems by their magic numbers (linux/magic.h). Of FUSE, 9p, /proc and
// whatever comes nobody knows.
var trusts = map[uint32]trust{
	0xef53: own, 0x58465342: own, 0x9123683e: own, 0x2fc12fc1: own, 0xf2f52010: own, // ext, xfs, btrfs, zfs, f2fs
	0xca451a4e: own, 0x01021994: own, 0x858458f6: own, 0x6969: own, 0x0bd00bd0: own, // bcachefs, tmpfs, ramfs, nfs, lustre
	0x47504653: own, // gpfs
	// overlay, squashfs, erofs, iso9660
	0x794c7630: mounted, 0x73717368: mounted, 0xe0f5e1e2: mounted, 0x9660: mounted,
}

// Of an overlay's folders even the stamp of one mount proves nothing: a name that
// appears in a lower layer leaves it alone.
const overlay = 0x794c7630

// loop is the major number of loop devices: what is behind one can be another
// image at any time, whatever its file system is.
const loop = 7

// mountTable remembers what is mounted by device.
type mountTable struct {
	mu    sync.RWMutex
	known map[mount]vouch
	boot  uint64
}

type mount struct{ dev, unique uint64 }

type vouch struct {
	identity uint64 // for Stamp.Mount
	names    bool   // whether a folder's stamp vouches for the names in it
}

var mounts = mountTable{known: map[mount]vouch{}}

// identity returns the Mount of stamps on a device. unique is 0 before Linux 6.8.
func (m *mountTable) identity(path []byte, dev, unique uint64) uint64 {
	return m.vouch(path, dev, unique).identity
}

func (m *mountTable) vouch(path []byte, dev, unique uint64) vouch {
	k := mount{dev, unique}
	m.mu.RLock()
	v, ok := m.known[k]
	m.mu.RUnlock()
	if ok {
		return v
	}
	v = m.ask(path, dev, unique)
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.known) > 256 {
		clear(m.known)
	}
	// Without unique ids a device's number may be another file system's by and by.
	// Those that are worth remembering then are of disks.
	if unique != 0 || unix.Major(dev) != 0 {
		m.known[k] = v
	}
	return v
}

func (m *mountTable) ask(path []byte, dev, unique uint64) vouch {
	var fs unix.Statfs_t
	if unix.Statfs(unix.ByteSliceToString(path), &fs) != nil {
		return vouch{identity: noMount}
	}
	t := trusts[uint32(fs.Type)]
	if t == mounted && !doubtsImages {
		return vouch{0, true}
	}
	if t == own && unix.Major(dev) == loop && doubtsImages {
		t = mounted
	}
	switch {
	case t == own:
		return vouch{0, true}
	case t == mounted && unique != 0:
		return vouch{m.ofBoot(unique), uint32(fs.Type) != overlay}
	}
	return vouch{identity: noMount}
}

// ofBoot turns the id of a mount into one that no other boot of any machine has.
func (m *mountTable) ofBoot(unique uint64) uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.boot == 0 {
		id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
		if err != nil {
			return noMount
		}
		d := key.Sum(id)
		m.boot = binary.LittleEndian.Uint64(d[:]) | 1
	}
	v := key.Sum(binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, m.boot), unique))
	return binary.LittleEndian.Uint64(v[:])>>1 | 1
}

// namesProved reports whether the stamp of a folder vouches for the names in it.
func (s *status) namesProved(path []byte) bool {
	unique := uint64(0)
	if s.st.Mask&mountUnique != 0 {
		unique = s.st.Mnt_id
	}
	return mounts.vouch(path, s.stamp.Dev, unique).names
}

// ended returns a path with a NUL behind it.
func ended(path string) []byte { return append([]byte(path), 0) }
