// How far the time stamps of a mounted file system can be trusted.

package stamp

import (
	"encoding/binary"
	"hash/fnv"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"jitcache/core/proc"
)

// trust says how far a file system's time stamps can be trusted.
type trust uint8

const (
	// own: the kernel, or a server's kernel, sets the time of each change.
	own trust = iota + 1
	// mounted: stamps prove something only within one mount. Files of images and layers
	// have the times that the maker chose, so another image may have equal stamps.
	mounted
)

// trusts has file systems by their magic numbers (linux/magic.h). FUSE, 9p, /proc and
// future file systems are not in it: what their stamps prove is unknown.
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

// loop is the major number of loop devices. A loop device may get another image at any
// time, whatever its file system is.
const loop = 7

// mountTable remembers what is mounted, by device. Every stat looks into it without a
// lock: known is a map that is replaced and never changed.
type mountTable struct {
	known atomic.Pointer[map[mount]vouch]
	mu    sync.Mutex // held while known is replaced
	boot  func() []byte
}

type mount struct{ dev, unique uint64 }

type vouch struct {
	identity uint64 // for Stamp.Mount
	made     uint64 // for Stamp.Mount of a file whose time of change is from the maker of an image
	names    bool   // whether a folder's stamp proves that the names in it are the same
}

// of returns the Stamp.Mount of a file that was changed at ctime.
func (v *vouch) of(ctime int64) uint64 {
	if v.identity == 0 && doubtsImages && ctime%int64(time.Second) == 0 {
		return v.made
	}
	return v.identity
}

var mounts = newMountTable()

func newMountTable() *mountTable {
	m := &mountTable{boot: sync.OnceValue(proc.BootID)}
	m.known.Store(&map[mount]vouch{})
	return m
}

// vouch says how far stamps on a device can be trusted. The file is at path, or, if path
// is nil, open as fd. unique is 0 before Linux 6.8.
func (m *mountTable) vouch(fd int, path []byte, dev, unique uint64) vouch {
	k := mount{dev, unique}
	if v, ok := (*m.known.Load())[k]; ok {
		return v
	}
	v := m.ask(fd, path, dev, unique)
	v.made = m.ofBoot(dev)
	// Without unique ids another file system may later have the same device number.
	// Then only the devices of disks are remembered.
	if unique != 0 || unix.Major(dev) != 0 {
		m.remember(k, v)
	}
	return v
}

func (m *mountTable) remember(k mount, v vouch) {
	m.mu.Lock()
	defer m.mu.Unlock()
	known := map[mount]vouch{k: v}
	if old := *m.known.Load(); len(old) < 256 {
		maps.Copy(known, old)
	}
	m.known.Store(&known)
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
		return vouch{names: true}
	}
	if t == own && unix.Major(dev) == loop && doubtsImages {
		t = mounted
	}
	switch {
	case t == own:
		return vouch{names: true}
	case t == mounted && unique != 0:
		return vouch{identity: m.ofBoot(unique), names: uint32(fs.Type) != overlay}
	}
	return vouch{identity: NoMount}
}

// ofBoot combines the id of a mount, or a device, with this boot of the machine, so that
// no other boot of any machine has the same.
func (m *mountTable) ofBoot(unique uint64) uint64 {
	boot := m.boot()
	if len(boot) == 0 {
		return NoMount
	}
	h := fnv.New64a()
	h.Write(boot)
	h.Write(binary.LittleEndian.AppendUint64(nil, unique))
	return h.Sum64()>>1 | 1
}
