// The folder of a shard, kept open while several of its files are worked on.

package store

import (
	"syscall"

	"golang.org/x/sys/unix"

	"jitcache/core/key"
)

// folder keeps the folder of a shard open, for work on several of its files. When it
// is asked for a file of another shard, it opens that shard's folder instead.
type folder struct {
	s     *Store
	shard int
	fd    int // -1: none is open
}

func (s *Store) newFolder() folder { return folder{s: s, fd: -1} }

// openShard opens the folder of a shard.
func (d *folder) openShard(shard int) syscall.Errno {
	if d.fd >= 0 && d.shard == shard {
		return 0
	}
	d.closeShard()
	fd, e := d.s.openDirBelow("entries/" + shardName(shard))
	d.shard, d.fd = shard, fd
	return e
}

func (d *folder) closeShard() {
	if d.fd >= 0 {
		closeFd(d.fd)
		d.fd = -1
	}
}

// openFile opens a listed file for reading.
func (d *folder) openFile(f *file) (int, syscall.Errno) {
	if e := d.openShard(f.shard); e != 0 {
		return -1, e
	}
	return openNoLink(d.fd, f.name, flagsRead, 0)
}

// footer reads the footer of a listed file.
func (d *folder) footer(f *file) (footer, Reason) {
	fd, e := d.openFile(f)
	if e != 0 {
		return footer{}, reasonOf(e)
	}
	defer closeFd(fd)
	return readFooter(fd, f.size)
}

// kindOf returns the kind of a listed file, and whether it is known: if the file
// cannot be read, it returns the default kind and false.
func (d *folder) kindOf(f *file) (kind string, known bool) {
	if foot, why := d.footer(f); why == None {
		return string(foot.kind), true
	}
	return key.DefaultKind, false
}

// removeFile removes a file that was not listed from its folder, which is open. It fails if
// the file is a folder. It sets f.size, so that the caller can subtract it.
func (d *folder) removeFile(f *file) (kind string, e syscall.Errno) {
	var st unix.Stat_t
	if e := fstatat(d.fd, f.name, &st); e != 0 {
		return "", e
	}
	if st.Mode&unix.S_IFMT == unix.S_IFDIR {
		return "", unix.EISDIR
	}
	f.size = st.Size
	kind, _ = d.kindOf(f)
	return kind, unlinkat(d.fd, f.name, 0)
}

// dateToNow gives an entry whose time is in the future the present time, so that it ages
// like the others.
func (d *folder) dateToNow(f *file) {
	fd, e := d.openFile(f)
	if e != 0 {
		return
	}
	var st syscall.Stat_t
	if fstat(fd, &st) == 0 && d.s.trust.checkEntry(&st) == None {
		touch(fd, d.s.now())
	}
	closeFd(fd)
}

// unlink removes a listed file, and reports whether it is gone.
func (d *folder) unlink(f *file) bool {
	if e := d.openShard(f.shard); e != 0 {
		return e == unix.ENOENT
	}
	e := removeTree(d.fd, f.name)
	return e == 0 || e == unix.ENOENT
}
