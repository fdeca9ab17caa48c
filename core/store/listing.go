package store

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"jitcache/core/key"
)

// What there is: the files of a shard, and the entries that they are.

// file is an entry as a listing of its shard shows it.
type file struct {
	shard   int
	name    string // within its shard
	size    int64
	used    int64 // recency, unix nanoseconds
	created int64 // only where used ties
	future  bool  // its time was in the future
	uid     uint32
}

// id returns the key that the name stands for.
func (f *file) id() (key.ID, bool) {
	id, err := key.ParseID(shardName(f.shard) + strings.TrimSuffix(f.name, entrySuffix))
	return id, err == nil
}

func shardName(i int) string { return fmt.Sprintf("%02x", i) }

// listing is what a shard has under the names of entries.
type listing struct {
	files []file
	odd   []file // that are no regular files
	err   error  // why there are none, as where the shard is no folder
}

// list lists a shard; one that does not exist has no entries.
func (s *Store) list(shard int) (l listing) {
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
			f.used, f.future = now, true // a clock was put back, or a copy came from the future
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
	return ok && len(digits) == 62 && strings.Trim(digits, "0123456789abcdef") == ""
}

// readNames reads a folder through a second descriptor, which it closes.
func readNames(dir int) ([]string, error) {
	if e := fault(OpList, ""); e != 0 && e != unix.EINTR { // os reads on
		return nil, e
	}
	fd, e := openat(dir, ".", unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if e != 0 {
		return nil, e
	}
	d := os.NewFile(uintptr(fd), "entries")
	defer d.Close()
	return d.Readdirnames(-1)
}

// Entry is what a listing says of an entry. The payload has not been verified.
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

// Progress is told how far a pass over all shards is, from 0 to 1, and how many
// entries it has seen. It may be nil.
type Progress func(done float64, entries int)

func (p Progress) tell(shard, entries int) {
	if p != nil {
		p(float64(shard+1)/shards, entries)
	}
}

// each calls fn for every shard in turn, until ctx is done.
func (s *Store) each(ctx context.Context, progress Progress, fn func(shard int, l listing) error) error {
	seen := 0
	for i := range shards {
		if err := ctx.Err(); err != nil {
			return err
		}
		l := s.list(i)
		if err := fn(i, l); err != nil {
			return err
		}
		seen += len(l.files)
		progress.tell(i, seen)
	}
	return nil
}

// Len counts the entries.
func (s *Store) Len() (int, error) {
	n := 0
	err := s.each(context.Background(), nil, func(_ int, l listing) error {
		n += len(l.files)
		return nil
	})
	return n, err
}

// Walk calls fn for every entry that can be read, in no order. Files that are
// no good entries are passed over; Verify finds them.
func (s *Store) Walk(ctx context.Context, fn func(*Entry) error) error {
	return s.each(ctx, nil, func(_ int, l listing) error {
		for i := range l.files {
			e, why := s.describe(&l.files[i])
			if why != None {
				continue
			}
			if err := fn(e); err != nil {
				return err
			}
		}
		return nil
	})
}

// Stat returns what an entry says of itself, or why it would miss as far as
// that can be told without reading the payload.
func (s *Store) Stat(id *key.ID) (*Entry, Reason) {
	var st syscall.Stat_t
	fd, why := s.open(id, &st)
	if why != None {
		return nil, why
	}
	closeFd(fd)
	return s.describe(&file{
		shard: int(id[0]), name: id.String()[2:] + entrySuffix,
		size: st.Size, used: st.Mtim.Sec*1e9 + st.Mtim.Nsec, uid: st.Uid,
	})
}

func (s *Store) describe(f *file) (*Entry, Reason) {
	path := s.entries + shardName(f.shard) + "/" + f.name
	fd, e := openBelow([]byte(path+"\x00"), flagsRead, 0)
	if e != 0 {
		return nil, reasonOf(e)
	}
	defer closeFd(fd)
	foot, why := readFooter(fd, f.size)
	if why != None {
		return nil, why
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
		ID: foot.id, Kind: string(foot.kind), Parts: a.parts,
		Size: f.size, Payload: int64(foot.payload), Created: foot.created, Used: f.used,
		Cost: foot.cost, UID: f.uid, Path: path,
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
	l := s.list(int(shard))
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
