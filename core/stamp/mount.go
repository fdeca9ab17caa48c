package stamp

import (
	"encoding/binary"
	"hash/fnv"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// trust says how far a file system's time stamps can be trusted.
type trust uint8

const (
	// own: the kernel, or a server that is one, sets the time of each change.
	own trust = iota + 1
	// mounted: only within one mount; another may have equal stamps. Images and
	// layers have the times that their maker wanted.
	mounted
)

// File systems by their magic numbers (linux/magic.h). Nobody knows about FUSE,
// 9p, /proc and future ones.
var trusts = map[uint32]trust{
	0xef53: own, 0x58465342: own, 0x9123683e: own, 0x2fc12fc1: own, 0xf2f52010: own, // ext, xfs, btrfs, zfs, f2fs
	0xca451a4e: own, 0x01021994: own, 0x858458f6: own, 0x6969: own, 0x0bd00bd0: own, // bcachefs, tmpfs, ramfs, nfs, lustre
	0x47504653: own, // gpfs
	// overlay, squashfs, erofs, iso9660
	0x794c7630: mounted, 0x73717368: mounted, 0xe0f5e1e2: mounted, 0x9660: mounted,
}

// The stamp of an overlay's folder proves nothing even within one mount: a name
// that appears in a lower layer does not change it.
const overlay = 0x794c7630

// loop is the major number of loop devices: behind one there can be another image
// at any time, whatever its file system is.
const loop = 7

// mountTable remembers by device what is mounted.
type mountTable struct {
	mu    sync.RWMutex
	known map[mount]vouch
	boot  []byte
}

type mount struct{ dev, unique uint64 }

type vouch struct {
	identity uint64 // for Stamp.Mount
	names    bool   // whether a folder's stamp vouches for the names in it
}

var mounts = mountTable{known: map[mount]vouch{}}

// vouch says how far stamps on a device go: what is at path, or is open as fd without one. unique is 0 before Linux 6.8.
func (m *mountTable) vouch(fd int, path []byte, dev, unique uint64) vouch {
	k := mount{dev, unique}
	m.mu.RLock()
	v, ok := m.known[k]
	m.mu.RUnlock()
	if ok {
		return v
	}
	v = m.ask(fd, path, dev, unique)
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.known) > 256 {
		clear(m.known)
	}
	// Without unique ids a device's number may later be another file system's.
	// Then only those of disks are worth remembering.
	if unique != 0 || unix.Major(dev) != 0 {
		m.known[k] = v
	}
	return v
}

func (m *mountTable) ask(fd int, path []byte, dev, unique uint64) vouch {
	var fs unix.Statfs_t
	var err error
	if path == nil {
		err = unix.Fstatfs(fd, &fs)
	} else {
		err = unix.Statfs(unix.ByteSliceToString(path), &fs)
	}
	if err != nil {
		return vouch{identity: NoMount}
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
	return vouch{identity: NoMount}
}

// ofBoot turns the id of a mount into one that no other boot of any machine has.
func (m *mountTable) ofBoot(unique uint64) uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.boot == nil {
		id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
		if err != nil {
			return NoMount
		}
		m.boot = id
	}
	h := fnv.New64a()
	h.Write(m.boot)
	h.Write(binary.LittleEndian.AppendUint64(nil, unique))
	return h.Sum64()>>1 | 1
}
