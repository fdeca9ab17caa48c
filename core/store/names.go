// The table of the last two keys that were stored under each name.

package store

import (
	"encoding/binary"
	"syscall"

	"github.com/zeebo/xxh3"
	"jitcache/core/key"
)

// The names table has the last two keys that were stored under each name, so that a
// miss can be explained by what has changed. It is for people, and best effort: 256
// files of 32 slots each. So it never grows beyond 16 MB and needs no cleaning, and
// remembering a key costs a read and a write, but no new file. A name may be in any of
// the four slots of its set. If all are taken, the one written longest ago is replaced.
//
// A slot, little-endian: magic (8), XXH3-64 of the rest that is used (8), time
// of writing (8), then the last entry and the one before it: length (4), sealed
// key without inputs, time stored (8). The second may have length 0.
const (
	nameMagic = "jcname\x00\x01"
	nameHead  = 24
	slotSize  = 2 << 10
	setSlots  = 4
	sets      = 8
	setSize   = setSlots * slotSize
)

// Named is one entry of the names table.
type Named struct {
	Key    *key.Key // without inputs
	Stored int64    // unix nanoseconds
}

// nameRecord is the content of one slot.
type nameRecord struct {
	written int64
	entries []Named // the latest first
}

func (r *nameRecord) recordedName() string {
	if r == nil || len(r.entries) == 0 {
		return ""
	}
	return r.entries[0].Key.Name
}

// nameSet returns the file of a name, in the folder names, and the offset of its set in
// the file.
func nameSet(name string) (file string, set int64) {
	sum := key.Sum([]byte(name))
	return shardName(int(sum[0])), int64(sum[1]%sets) * setSize
}

// rememberName records that k was stored under its name.
func (s *Store) rememberName(k *key.Key, now int64) {
	if k.Name == "" {
		return
	}
	file, set := nameSet(k.Name)
	fd, _, e := s.openToWrite("names/" + file)
	if e != 0 {
		return
	}
	defer closeFd(fd)
	records, e := readSet(fd, set)
	if e != 0 {
		return
	}
	at := chooseSlot(records, k.Name)
	record := nameRecord{now, []Named{{k, now}}}
	if old := records[at]; old != nil && old.recordedName() == k.Name {
		for _, n := range old.entries {
			if n.Key.ID != k.ID && len(record.entries) < 2 {
				record.entries = append(record.entries, n)
			}
		}
	}
	data := record.encode()
	if len(data) > slotSize {
		record.entries = record.entries[:1]
		if data = record.encode(); len(data) > slotSize {
			return
		}
	}
	pwriteAll(fd, data, set+int64(at)*slotSize)
}

// chooseSlot returns the slot of a name, else a free one, else the one written
// longest ago.
func chooseSlot(records [setSlots]*nameRecord, name string) int {
	best := 0
	for i, r := range records {
		if r != nil && r.recordedName() == name {
			return i
		}
		if b := records[best]; b != nil && (r == nil || r.written < b.written) {
			best = i
		}
	}
	return best
}

func readSet(fd int, set int64) (records [setSlots]*nameRecord, e syscall.Errno) {
	buf := make([]byte, setSize)
	n, e := preadFull(fd, buf, set)
	clear(buf[n:])
	for i := range records {
		records[i] = parseNameRecord(buf[i*slotSize : (i+1)*slotSize])
	}
	return records, e
}

func (r *nameRecord) encode() []byte {
	le := binary.LittleEndian
	b := append(make([]byte, 0, slotSize), nameMagic...)
	b = le.AppendUint64(b, 0)
	b = le.AppendUint64(b, uint64(r.written))
	for i := range 2 {
		if i >= len(r.entries) {
			b = le.AppendUint32(b, 0)
			continue
		}
		k := *r.entries[i].Key
		k.Inputs = nil
		sealed := k.Append(nil)
		b = le.AppendUint32(b, uint32(len(sealed)))
		b = append(b, sealed...)
		b = le.AppendUint64(b, uint64(r.entries[i].Stored))
	}
	le.PutUint64(b[8:], xxh3.Hash(b[16:]))
	return b
}

// parseNameRecord reads a slot; nil if it is free or damaged. It ignores bytes after the
// record, which a longer one has left.
func parseNameRecord(b []byte) *nameRecord {
	le := binary.LittleEndian
	if len(b) < nameHead || string(b[:8]) != nameMagic {
		return nil
	}
	r := &nameRecord{written: int64(le.Uint64(b[16:]))}
	rest := b[nameHead:]
	for range 2 {
		if len(rest) < 4 {
			return nil
		}
		n := le.Uint32(rest)
		rest = rest[4:]
		if n == 0 {
			continue
		}
		if uint64(n)+8 > uint64(len(rest)) {
			return nil
		}
		k, err := key.ParseSealed(rest[:n])
		if err != nil {
			return nil
		}
		r.entries = append(r.entries, Named{k, int64(le.Uint64(rest[n:]))})
		rest = rest[n+8:]
	}
	if le.Uint64(b[8:]) != xxh3.Hash(b[16:len(b)-len(rest)]) {
		return nil
	}
	return r
}

// LastNamed returns the last two entries stored under a name, the latest first; fewer
// if there were fewer, or they are no longer known.
func (s *Store) LastNamed(name string) []Named {
	file, set := nameSet(name)
	fd, _, e := s.openToRead("names/" + file)
	if e != 0 {
		return nil
	}
	defer closeFd(fd)
	records, _ := readSet(fd, set)
	for _, r := range records {
		if r != nil && r.recordedName() == name {
			return r.entries
		}
	}
	return nil
}

// EachName calls fn for the last entry of every name that is known, in no order.
func (s *Store) EachName(fn func(Named)) {
	for i := range shards {
		fd, _, e := s.openToRead("names/" + shardName(i))
		if e != 0 {
			continue
		}
		for set := range int64(sets) {
			records, _ := readSet(fd, set*setSize)
			for _, r := range records {
				if r.recordedName() != "" {
					fn(r.entries[0])
				}
			}
		}
		closeFd(fd)
	}
}

// forgetNames empties the table.
func (s *Store) forgetNames() {
	dir, e := s.openDirBelow("names")
	if e != 0 {
		return
	}
	defer closeFd(dir)
	for i := range shards {
		unlinkat(dir, shardName(i), 0)
	}
}
