// Pin: a path to the verified bytes of an entry, valid until it is released.

package store

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"jitcache/core/blob"
	"jitcache/core/key"
	"jitcache/core/lockfile"
)

// Pin is a path to the verified bytes of a blob. The path can be opened for as long as
// the pin is held, even if the entry is evicted, cleared or replaced meanwhile. No two
// pins of a process have the same path, because dlopen returns the old library for a
// path that it has seen, without looking at the file.
type Pin struct {
	Path string
	Fd   int // the memfd that Path leads to, else -1
}

// pinSerial numbers the pins of the process, over all stores.
var pinSerial atomic.Uint64

// The name of a copy in the temp directory: tempPrefix, the owner and a number, tempSuffix.
const (
	tempPrefix = "jitcache-"
	tempSuffix = ".so"
)

var elfMagic = []byte("\x7fELF")

// NewPin returns a path to b's payload. If s is nil, it is the path of a copy. Copies go
// to tempdir. The caller ends the pin with Release; C code closes Fd if there is one,
// else removes Path. Path has no symbolic links. If it has one when it is removed,
// another user has put it there.
//
// An ELF payload gets a second link to the entry's file: payload, attributes, footer.
// ELF readers ignore what follows the sections. Readers of any other payload would see
// the footer, so it gets a copy of the payload alone. So does any payload if the file
// system has no links, does not allow execution, or is shared with other machines,
// where a new name may appear late on another node.
func NewPin(s *Store, tempdir string, b *blob.Blob) (*Pin, error) {
	if s != nil && s.refuse == None && !s.mount.Network && !s.mount.NoExec && bytes.HasPrefix(b.Data(), elfMagic) {
		if p := s.link(b); p != nil {
			return p, nil
		}
	}
	if p := copyToTemp(tempdir, b.Data()); p != nil {
		return p, nil
	}
	return copyToMemory(b.Data())
}

// link makes a second link to the blob's file, if the entry is still that file.
func (s *Store) link(b *blob.Blob) *Pin {
	dev, ino := b.File()
	if ino == 0 {
		return nil
	}
	dir, e := s.openDirBelow("open")
	if e != 0 {
		return nil
	}
	defer closeFd(dir)
	id := key.ID(b.ID())
	hex := id.String()
	shard, e := s.openDirBelow("entries/" + hex[:2])
	if e != 0 {
		return nil
	}
	defer closeFd(shard)
	name := lockfile.Self().String() + "." + strconv.FormatUint(pinSerial.Add(1), 10) + ".so"
	if linkat(shard, hex[2:]+entrySuffix, dir, name) != 0 {
		return nil
	}
	var st unix.Stat_t
	if fstatat(dir, name, &st) != 0 || uint64(st.Dev) != dev || st.Ino != ino || !isWriteOf(dir, name, st.Size, b) {
		unlinkat(dir, name, 0)
		return nil
	}
	return &Pin{Path: s.v1 + "/open/" + name, Fd: -1}
}

// isWriteOf reports whether a file is the one that has b's bytes. The inode number
// alone does not tell: when an entry is replaced twice, the second file may get the
// number of the first (seen with ext4 while processes were killed).
func isWriteOf(dir int, name string, size int64, b *blob.Blob) bool {
	if !readsPinned {
		return true
	}
	fd, e := openNoLink(dir, name, flagsRead, 0)
	if e != 0 {
		return false
	}
	defer closeFd(fd)
	f, why := readFooter(fd, size)
	created, _ := b.Created()
	return why == None && f.created == created && f.payload == uint64(len(b.Data()))
}

// copyToTemp writes the payload to a private file in the temp directory.
func copyToTemp(tempdir string, data []byte) *Pin {
	sweepTempOnce(tempdir)
	name := fmt.Sprintf("%s%s.%d%s", tempPrefix, lockfile.Self(), pinSerial.Add(1), tempSuffix)
	dir, e := openat(atCwd, tempdir, unix.O_PATH|unix.O_DIRECTORY, 0)
	if e != 0 {
		return nil
	}
	defer closeFd(dir)
	fd, e := createAt(dir, name, 0o700)
	if e != 0 {
		return nil
	}
	if mountOf(fd, "").NoExec && bytes.HasPrefix(data, elfMagic) {
		e = unix.EACCES
	} else {
		e = writeAll(fd, data)
	}
	if ec := closeFd(fd); e == 0 {
		e = ec
	}
	if e != 0 {
		unlinkat(dir, name, 0)
		return nil
	}
	return &Pin{Path: resolve(dir, tempdir) + "/" + name, Fd: -1}
}

// copyToMemory is for a machine on which no disk allows execution. The path leads
// through the descriptor, whose number is used again once it is closed. The dots make
// the path unique.
func copyToMemory(data []byte) (*Pin, error) {
	fd, err := unix.MemfdCreate("jitcache", unix.MFD_CLOEXEC|unix.MFD_EXEC)
	if err == unix.EINVAL { // before Linux 6.3
		fd, err = unix.MemfdCreate("jitcache", unix.MFD_CLOEXEC)
	}
	if err != nil {
		return nil, &os.PathError{Op: "memfd", Path: "jitcache", Err: err}
	}
	if e := writeAll(fd, data); e != 0 {
		closeFd(fd)
		return nil, &os.PathError{Op: "write", Path: "memfd", Err: e}
	}
	var dots strings.Builder
	for n := pinSerial.Add(1); n > 0; n >>= 1 {
		dots.WriteString([]string{"./", ".//"}[n&1])
	}
	return &Pin{Path: fmt.Sprintf("/proc/%d/fd/%s%d", os.Getpid(), dots.String(), fd), Fd: fd}, nil
}

// Release ends the pin: the path is gone.
func (p *Pin) Release() {
	if p.Fd >= 0 {
		closeFd(p.Fd)
		return
	}
	folder := []byte(filepath.Dir(p.Path) + "\x00")
	if dir, e := openNoLinks("/", folder, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0, true); e == 0 {
		unlinkat(dir, filepath.Base(p.Path), 0)
		closeFd(dir)
	}
}
