// Batch: a series of puts that keeps its folders open.

package store

import (
	"syscall"

	"golang.org/x/sys/unix"

	"jitcache/core/key"
)

// Batch is a series of puts, by one goroutine. It keeps two folders open: tmp, and that
// of the last entry's shard. If the entries come in the order of their keys, most are in
// the same shard as the one before. With Durable an entry is on the disk when the next
// entry of another shard was stored, or the batch was closed.
//
// Keep a Batch only for as long as some puts take: if somebody moves the directory away
// meanwhile, the puts go with it. And use it only in our own programs: a host may close
// every descriptor that it did not open.
type Batch struct {
	s        *Store
	shard    folder
	tmp      int  // -1: it is not open
	unsynced bool // the shard has a name that may not be on the disk yet
}

// Batch begins a series of puts. Close ends it.
func (s *Store) Batch() Batch { return Batch{s: s, shard: s.newFolder(), tmp: -1} }

// Close ends the series.
func (b *Batch) Close() {
	b.sync()
	b.closeFolders()
}

// sync flushes the names of the shard that is open.
func (b *Batch) sync() {
	if b.unsynced {
		fsync(b.shard.fd)
	}
	b.unsynced = false
}

// closeFolders closes the folders; the next put opens them again by their paths.
func (b *Batch) closeFolders() {
	b.shard.closeShard()
	if b.tmp >= 0 {
		closeFd(b.tmp)
	}
	b.tmp, b.unsynced = -1, false
}

// openShard returns the folder of an entry.
func (b *Batch) openShard(id *key.ID) (int, syscall.Errno) {
	if b.shard.shard != int(id[0]) {
		b.sync()
	}
	e := b.shard.openShard(int(id[0]))
	return b.shard.fd, e
}

// openTmp returns the folder tmp.
func (b *Batch) openTmp() (fd int, e syscall.Errno) {
	if b.tmp < 0 {
		b.tmp, e = b.s.openDirBelow("tmp")
	}
	return b.tmp, e
}

// Lacks reports whether there is no file at the place of an entry.
func (b *Batch) Lacks(id *key.ID) bool {
	shard, e := b.openShard(id)
	if e == 0 {
		var st unix.Stat_t
		e = fstatat(shard, id.String()[2:]+entrySuffix, &st)
	}
	return e == unix.ENOENT
}
