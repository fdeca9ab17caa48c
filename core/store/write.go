// Put: writing an entry to a temporary file, and renaming it to its place.

package store

import (
	"syscall"

	"github.com/zeebo/xxh3"
	"golang.org/x/sys/unix"

	"jitcache/core/blob"
	"jitcache/core/key"
)

// Item is something to store.
type Item struct {
	Key        *key.Key
	Payload    []byte
	Attributes string // JSON text of the caller, "" for none
	Cost       int64  // nanoseconds that the compile took, 0 unknown
	Replace    bool   // replace a good entry too
	Words      []byte // keys on whose word it rests, see Records
	// Sign returns a signature on an entry with these attributes and this time; if it is
	// nil, the entry is not signed.
	Sign func(attributes []byte, created int64) []byte

	// For an entry that is copied: the bytes after the payload, and when it was made.
	trailer []byte
	created int64
}

// Written is the file that a put has written, so that a blob of the same bytes can
// later make a path to it.
type Written struct {
	Dev, Ino uint64
	Created  int64
}

// Put stores an item. None means that the entry is there afterwards, written now or
// before; if it was there before, Written is zero. Any other Reason means that nothing
// was stored, not even half of it.
//
// This is the only way into entries/:
//
//  1. refuse an item that cannot be right or does not fit,
//  2. write a new file in tmp, on the same file system, so that 4 can be a rename,
//  3. set its time stamp, and with Durable flush it; it never changes afterwards,
//  4. rename it to its place, which is the commit,
//  5. tell the ledger, which may evict others.
//
// There is no fsync by default: after a power cut a torn entry fails its
// checksums and is compiled again.
func (s *Store) Put(it Item) (Written, Reason) {
	b := s.Batch()
	w, d, why := b.commitItem(&it)
	b.Close()
	s.recordInLedger(&it, w, d)
	return w, why
}

// commitItem is Put without its last step.
func (b *Batch) commitItem(it *Item) (w Written, d change, why Reason) {
	s := b.s
	if s.refuse != None {
		return w, d, s.refuse
	}
	size := int64(len(it.Payload) + it.trailerSize())
	if limit := s.MaxSize(); limit > 0 && size > limit {
		return w, d, TooLarge
	}
	for i := range it.Key.Inputs {
		if _, changed := it.Key.Inputs[i].Changed(); changed {
			return w, d, InputChange
		}
	}
	w, d, e := b.publish(it)
	if e != 0 {
		return Written{}, d, refusal(e)
	}
	return w, d, None
}

// recordInLedger is the last step of Put. It does nothing if nothing was written.
func (s *Store) recordInLedger(it *Item, w Written, d change) {
	if w.Created == 0 {
		return
	}
	s.rememberName(it.Key, w.Created)
	s.addEntry(&it.Key.ID, d)
	s.flushIfDue(&it.Key.ID)
}

// refusal is reasonOf for a put, in which a missing file is not an absent entry.
func refusal(e syscall.Errno) Reason {
	if why := reasonOf(e); why != Absent {
		return why
	}
	return IO
}

func (it *Item) trailerSize() int {
	if it.trailer != nil {
		return len(it.trailer)
	}
	n := attributeSize(it.Key, it.Attributes) + footerSize
	if len(it.Words) > 0 {
		n += recordOverhead + len(it.Words)
	}
	if it.Sign != nil {
		n += recordOverhead + signatureSize
	}
	return n
}

// makeTrailer returns the attributes and the footer of an item, and when it was made.
func (it *Item) makeTrailer(now int64) ([]byte, int64) {
	if it.trailer != nil {
		return it.trailer, it.created
	}
	b := appendAttributes(make([]byte, 0, it.trailerSize()), it.Key, it.Attributes)
	if len(it.Words) > 0 {
		b = appendRecord(b, tagWords, it.Words, "")
	}
	if it.Sign != nil {
		b = appendRecord(b, tagSignature, it.Sign(b, now), "")
	}
	return appendFooter(b, &footer{
		attributes:    uint32(len(b)),
		payload:       uint64(len(it.Payload)),
		payloadSum:    sumPayload(it.Payload),
		attributesSum: xxh3.Hash(b),
		id:            it.Key.ID,
		kind:          []byte(it.Key.Kind),
		created:       now,
		cost:          it.Cost,
	}), now
}

// change is the change of a shard by a put or a removal.
type change struct {
	bytes, count int64
}

// publish writes the temporary file and renames it. If a folder is missing, it
// makes all of them and tries once more.
func (b *Batch) publish(it *Item) (w Written, d change, e syscall.Errno) {
	s := b.s
	w, d, e = b.publishOnce(it)
	if e == unix.ENOTDIR {
		// There is a file in the place of the shard: move it to tmp.
		if entries, eo := s.openDirBelow("entries"); eo == 0 {
			if s.putAside(entries, it.Key.ID.String()[:2]) == 0 {
				e = unix.ENOENT
			}
			closeFd(entries)
		}
	}
	if e == unix.ENOENT {
		b.Close()
		if e = s.repairLayout(&it.Key.ID); e == 0 {
			w, d, e = b.publishOnce(it)
		}
	}
	return w, d, e
}

func (b *Batch) publishOnce(it *Item) (w Written, d change, e syscall.Errno) {
	s := b.s
	name := it.Key.ID.String()[2:] + entrySuffix
	shard, e := b.openShard(&it.Key.ID)
	if e != 0 {
		return w, d, e
	}
	var old unix.Stat_t
	if fstatat(shard, name, &old) == 0 {
		if !it.Replace && s.Has(&it.Key.ID) {
			return w, d, 0
		}
		d = over(&old)
	}
	tmp, e := b.openTmp()
	if e != 0 {
		return w, d, e
	}
	now := s.stamp()
	trailer, created := it.makeTrailer(now)
	temp := s.tempName()
	if w, e = s.writeTemp(tmp, temp, it.Payload, trailer, now); e != 0 {
		return w, d, e
	}
	e = s.renameIntoPlace(tmp, temp, shard, name, &d)
	if e != 0 {
		unlinkat(tmp, temp, 0)
		return Written{}, d, e
	}
	b.unsynced = s.options.Durable
	w.Created = created
	d.bytes += int64(len(it.Payload) + len(trailer))
	d.count++
	return w, d, 0
}

// over returns the change of a shard when old is replaced.
func over(old *unix.Stat_t) (d change) {
	if old.Mode&unix.S_IFMT == unix.S_IFREG {
		d = change{-old.Size, -1}
	}
	return d
}

// renameIntoPlace renames the temporary file to its place, and sets d to the change by what that has
// replaced. If several puts of one key find its place free, RENAME_NOREPLACE tells all but
// the first; otherwise each would count an entry, until the next trim. Some file systems,
// such as NFS, do not have it.
func (s *Store) renameIntoPlace(tmp int, temp string, shard int, name string, d *change) syscall.Errno {
	if *d != (change{}) || s.cannotTell.Load() || !asksFirst {
		return s.moveIn(tmp, temp, shard, name)
	}
	e := renameat2(tmp, temp, shard, name, unix.RENAME_NOREPLACE)
	switch e {
	case unix.EEXIST:
		var there unix.Stat_t
		if fstatat(shard, name, &there) == 0 {
			*d = over(&there)
		}
	case unix.EINVAL, unix.ENOSYS, unix.EPERM: // the file system, the kernel or a filter lacks it
		s.cannotTell.Store(true)
	default:
		return e
	}
	return s.moveIn(tmp, temp, shard, name)
}

// moveIn renames the temporary file to its place. If a folder is there, it moves the
// folder to tmp, where the sweep removes it.
func (s *Store) moveIn(tmp int, temp string, shard int, name string) syscall.Errno {
	e := renameat(tmp, temp, shard, name)
	if e == unix.EISDIR || e == unix.ENOTEMPTY || e == unix.EEXIST {
		if e = renameat(shard, name, tmp, s.tempName()); e == 0 {
			e = renameat(tmp, temp, shard, name)
		}
	}
	return e
}

// writeTemp makes the temporary file. It leaves none behind if it fails.
func (s *Store) writeTemp(dir int, name string, payload, trailer []byte, now int64) (w Written, e syscall.Errno) {
	fd, e := createAt(dir, name, s.mode)
	if e != 0 {
		return w, e
	}
	var st syscall.Stat_t
	if e = writeAll(fd, payload, trailer); !checkWrite {
		e = 0
	}
	if e == 0 {
		// Best effort: if it fails, the file has the kernel's own stamp.
		touch(fd, now)
	}
	if e == 0 {
		e = fstat(fd, &st)
	}
	if e == 0 {
		s.putMode(fd, &st)
	}
	if e == 0 && s.options.Durable {
		e = fsync(fd)
	}
	if e == 0 && checkWrite && st.Size != int64(len(payload)+len(trailer)) {
		e = unix.ENOSPC // a file system may notice it late, without an error
	}
	if e == 0 {
		e = closeFd(fd) // NFS and quotas report errors here that write did not
	} else {
		abandon(fd)
	}
	if e != 0 {
		unlinkat(dir, name, 0)
		return w, e
	}
	return Written{Dev: uint64(st.Dev), Ino: st.Ino, Created: now}, 0
}

// repairLayout makes missing folders that a put needs: the shard, or else all folders.
func (s *Store) repairLayout(id *key.ID) syscall.Errno {
	if e := s.makeShard(id); e == 0 {
		if fd, e := s.openDirBelow("tmp"); e == 0 {
			closeFd(fd)
			return 0
		}
	}
	if !makeAgain {
		return unix.ENOENT
	}
	if e := mkdirAll(s.root, s.dirMode); e != 0 {
		return e
	}
	if err := s.makeLayout(); err != nil {
		return errno(err)
	}
	return s.makeShard(id)
}

func (s *Store) makeShard(id *key.ID) syscall.Errno {
	entries, e := s.openDirBelow("entries")
	if e != 0 {
		return e
	}
	defer closeFd(entries)
	return s.makeDir(entries, shardName(int(id[0])))
}

// mkdirAll makes the root again, parents first.
func mkdirAll(path string, mode uint32) syscall.Errno {
	e := mkdirat(atCwd, path, mode)
	if e == unix.ENOENT {
		for i := len(path) - 1; i > 0; i-- {
			if path[i] == '/' {
				if e := mkdirAll(path[:i], privateDir); e != 0 {
					return e
				}
				break
			}
		}
		e = mkdirat(atCwd, path, mode)
	}
	if e == unix.EEXIST {
		return 0
	}
	return e
}

// Remove removes an entry, and counts it for its kind. It reports whether there was
// one.
func (s *Store) Remove(id *key.ID) (bool, Reason) {
	if s.refuse != None {
		return false, s.refuse
	}
	d := s.newFolder()
	defer d.closeShard()
	f := file{shard: int(id[0]), name: id.String()[2:] + entrySuffix}
	e := d.openShard(f.shard)
	kind := ""
	if e == 0 {
		kind, e = d.removeFile(&f)
	}
	switch {
	case e == unix.ENOENT:
		return false, None
	case e != 0:
		return false, reasonOf(e)
	}
	s.addEntry(id, change{-f.size, -1})
	s.Count([]byte(kind), Removals, 1)
	return true, None
}

// NewBlob returns a blob of an item, as if it had been read, with a reference for the
// caller. w is what Put has returned.
func NewBlob(it Item, w Written) (*blob.Blob, error) {
	n := attributeSize(it.Key, it.Attributes)
	b, err := blob.New(len(it.Payload) + n)
	if err != nil {
		return nil, err
	}
	buf := b.Buffer()
	copy(buf, it.Payload)
	appendAttributes(buf[len(it.Payload):len(it.Payload)], it.Key, it.Attributes)
	a, _ := parseAttributes(buf[len(it.Payload):], false)
	fill(b, &footer{
		payload: uint64(len(it.Payload)), id: it.Key.ID, kind: []byte(it.Key.Kind), created: w.Created, cost: it.Cost,
	}, a)
	b.SetFile(w.Dev, w.Ino)
	return b, nil
}
