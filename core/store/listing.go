// Lists the entries of shards, from their names and footers.

package store

import (
	"bytes"
	"context"
	"fmt"
	"sort"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"jitcache/core/key"
)

// Listings: the files of a shard, and the entries in them.

// file is an entry as a listing of its shard shows it.
type file struct {
	shard   int
	name    string // within its shard
	size    int64
	used    int64 // recency, nanoseconds since 1970
	created int64 // 0 unless it was needed to decide between equal values of used
	future  bool  // its time was in the future
	uid     uint32
}

// id returns the key that the file's name stands for.
func (f *file) id() (key.ID, bool) {
	id, err := key.ParseID(shardName(f.shard) + strings.TrimSuffix(f.name, entrySuffix))
	return id, err == nil
}

func shardName(i int) string { return fmt.Sprintf("%02x", i) }

// listing has the files of a shard whose names are those of entries.
type listing struct {
	files []file
	odd   []file // the ones that are not regular files
	err   error  // why the shard cannot be listed, for example if it is not a folder
}

// listShard lists a shard; one that does not exist has no entries.
func (s *Store) listShard(shard int) (l listing) {
	dir, e := s.openDirBelow("entries/" + shardName(shard))
	if e == unix.ENOENT {
		return l
	}
	if e != 0 {
		return listing{err: e}
	}
	names, err := readNames(dir)
	defer closeFd(dir)
	if err != nil {
		return listing{err: err}
	}
	now := s.now()
	l.files = make([]file, 0, len(names))
	for _, name := range names {
		if !isEntryName(name) {
			continue
		}
		var st unix.Stat_t
		if fstatat(dir, name, &st) != 0 {
			continue
		}
		f := file{shard: shard, name: name, size: st.Size, used: st.Mtim.Nano(), uid: st.Uid}
		if f.used > now {
			f.used, f.future = now, true // a clock was put back, or the file was copied
		}
		if st.Mode&unix.S_IFMT == unix.S_IFREG {
			l.files = append(l.files, f)
		} else {
			l.odd = append(l.odd, f)
		}
	}
	return l
}

// isEntryName reports whether a name is 62 lower-case hex digits and the suffix.
func isEntryName(name string) bool {
	digits, ok := strings.CutSuffix(name, entrySuffix)
	if !ok || len(digits) != 62 {
		return false
	}
	for _, c := range []byte(digits) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// Entry describes an entry. Its payload was not verified.
type Entry struct {
	ID         key.ID
	Kind       string
	Name       string
	Parts      []key.Part
	Attributes string // the caller's JSON text
	Size       int64  // of the file
	Payload    int64
	Created    int64 // unix nanoseconds
	Used       int64 // recency, unix nanoseconds
	Cost       int64 // nanoseconds
	UID        uint32
	Path       string
}

// Progress is called during a pass over all shards: done is the share that is done, from 0
// to 1, and entries the number of entries so far. It may be nil.
type Progress func(done float64, entries int)

func (p Progress) report(shard, entries int) {
	if p != nil {
		p(float64(shard+1)/shards, entries)
	}
}

// eachShard calls fn for every shard in turn, until ctx is done.
func (s *Store) eachShard(ctx context.Context, progress Progress, fn func(shard int, l listing) error) error {
	seen := 0
	for i := range shards {
		if err := ctx.Err(); err != nil {
			return err
		}
		l := s.listShard(i)
		if err := fn(i, l); err != nil {
			return err
		}
		seen += len(l.files)
		progress.report(i, seen)
	}
	return nil
}

// Len counts the entries.
func (s *Store) Len() (int, error) {
	n := 0
	err := s.eachShard(context.Background(), nil, func(_ int, l listing) error {
		n += len(l.files)
		return nil
	})
	return n, err
}

// Keys returns the keys of a shard, in order. There are 256 shards; ok is false beyond
// the last. It looks only at names; Describe reads the files.
func (s *Store) Keys(shard int) (ids []key.ID, ok bool) {
	if shard < 0 || shard >= shards {
		return nil, false
	}
	name := shardName(shard)
	dir, e := s.openDirBelow("entries/" + name)
	if e != 0 {
		return nil, true
	}
	defer closeFd(dir)
	names, _ := readNames(dir)
	ids = make([]key.ID, 0, len(names))
	for _, n := range names {
		if isEntryName(n) {
			id, _ := key.ParseID(name + strings.TrimSuffix(n, entrySuffix))
			ids = append(ids, id)
		}
	}
	sort.Slice(ids, func(i, j int) bool { return bytes.Compare(ids[i][:], ids[j][:]) < 0 })
	return ids, true
}

// Walk calls fn for every entry that can be read, in the order of their keys. It has
// the keys of one shard and one entry in memory at a time. It skips files that are not
// good entries; Verify finds them.
func (s *Store) Walk(ctx context.Context, fn func(*Entry) error) error {
	for shard := range shards {
		ids, _ := s.Keys(shard)
		for i := range ids {
			if err := ctx.Err(); err != nil {
				return err
			}
			e, why := s.Describe(&ids[i])
			if why != None {
				continue
			}
			if err := fn(e); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

// Stat describes an entry, or says why a lookup would miss, as far as that shows without
// reading the payload.
func (s *Store) Stat(id *key.ID) (*Entry, Reason) {
	var st syscall.Stat_t
	fd, why := s.openEntry(id, &st)
	if why != None {
		return nil, why
	}
	defer closeFd(fd)
	return s.describeEntry(fd, &st, id)
}

// Describe is Stat for entries of any owner.
func (s *Store) Describe(id *key.ID) (*Entry, Reason) {
	var p entryPath
	fd, e := s.openBelow(s.entryPath(&p, id), flagsRead, 0)
	if e != 0 {
		return nil, reasonOf(e)
	}
	defer closeFd(fd)
	var st syscall.Stat_t
	if e := fstat(fd, &st); e != 0 {
		return nil, reasonOf(e)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return nil, NotRegular
	}
	return s.describeEntry(fd, &st, id)
}

func (s *Store) describeEntry(fd int, st *syscall.Stat_t, id *key.ID) (*Entry, Reason) {
	foot, why := readFooter(fd, st.Size)
	if why != None {
		return nil, why
	}
	if foot.id != *id {
		return nil, ForeignKey
	}
	attrs := make([]byte, foot.attributes)
	n, e := preadFull(fd, attrs, int64(foot.payload))
	if e != 0 {
		return nil, reasonOf(e)
	}
	if _, why := verifyAttributes(attrs[:n], &foot); why != None {
		return nil, why
	}
	a, _ := parseAttributes(attrs, true)
	entry := &Entry{
		ID: *id, Kind: string(foot.kind), Parts: a.parts,
		Size: st.Size, Payload: int64(foot.payload), Created: foot.created, Used: min(st.Mtim.Nano(), s.now()),
		Cost: foot.cost, UID: st.Uid, Path: s.PathOf(id),
	}
	if a.name >= 0 {
		entry.Name = string(attrs[a.name : a.name+a.nameLen])
	}
	if a.caller >= 0 {
		entry.Attributes = string(attrs[a.caller : a.caller+a.callerLen])
	}
	return entry, None
}

// Match returns the entries whose key begins with the given hex digits, at
// least two of them.
func (s *Store) Match(digits string) ([]key.ID, error) {
	if len(digits) < 2 || len(digits) > 64 || strings.Trim(digits, "0123456789abcdef") != "" {
		return nil, fmt.Errorf("%q: want 2 to 64 hex digits", digits)
	}
	shard, _ := strconv.ParseUint(digits[:2], 16, 8)
	l := s.listShard(int(shard))
	if l.err != nil {
		return nil, l.err
	}
	var ids []key.ID
	for i := range l.files {
		if id, ok := l.files[i].id(); ok && strings.HasPrefix(id.String(), digits) {
			ids = append(ids, id)
		}
	}
	return ids, nil
}
