package store

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"time"

	"jitcache/core/key"
)

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

// Bad is a file that is no good entry.
type Bad struct {
	Path   string
	Reason Reason
}

// Report is the outcome of Verify.
type Report struct {
	Entries int
	Bytes   int64
	Bad     []Bad
	Removed int // of Bad
}

// Verify reads every entry and checks every byte. What can only be replaced is
// removed, unless keep is set; what another user or a later version has written
// is reported and left. The ledger is set to what was found.
func (s *Store) Verify(ctx context.Context, keep bool, progress Progress) (Report, error) {
	var r Report
	err := s.pass(ctx, progress, func(shard int, l listing) (cell, error) {
		c := cellOf(l.files)
		for i := range l.files {
			f := &l.files[i]
			r.Entries++
			r.Bytes += f.size
			if why := s.verifyFile(f); why != None && why != Absent && s.bad(&r, f, why, keep) {
				c.bytes -= uint64(f.size)
				c.count--
			}
		}
		for i := range l.odd {
			s.bad(&r, &l.odd[i], s.verifyFile(&l.odd[i]), keep)
		}
		if l.err != nil {
			r.Bad = append(r.Bad, Bad{s.entries + shardName(shard), reasonOfErr(l.err)})
		}
		return c, nil
	})
	return r, err
}

// bad reports a file, removes it if it may be, and returns whether it has.
func (s *Store) bad(r *Report, f *file, why Reason, keep bool) bool {
	r.Bad = append(r.Bad, Bad{s.entries + shardName(f.shard) + "/" + f.name, why})
	if keep || !why.Damaged() || s.refuse != None {
		return false
	}
	d := s.folder()
	defer d.close()
	if !d.unlink(f) {
		return false
	}
	r.Removed++
	return true
}

func (s *Store) verifyFile(f *file) Reason {
	id, ok := f.id()
	if !ok {
		return Malformed
	}
	var st syscall.Stat_t
	fd, why := s.open(&id, &st)
	if why != None {
		return why
	}
	defer closeFd(fd)
	b, why := s.read(fd, &st, &id)
	if why == None {
		b.Release()
	}
	return why
}

// Cleared is the outcome of Clear and Trim.
type Cleared struct {
	Entries int
	Bytes   int64
}

// Clear removes the entries of a kind, all of them and the names if kind is "".
func (s *Store) Clear(ctx context.Context, kind string, progress Progress) (Cleared, error) {
	var done Cleared
	if s.refuse != None {
		return done, &Refused{s.refuse, s.root, "it cannot be written", ""}
	}
	err := s.pass(ctx, progress, func(_ int, l listing) (cell, error) {
		c := cellOf(l.files)
		d := s.folder()
		defer d.close()
		for i := range l.files {
			f := &l.files[i]
			if kind != "" {
				if foot, why := d.footer(f); why != None || string(foot.kind) != kind {
					continue
				}
			}
			if d.unlink(f) {
				done.Entries++
				done.Bytes += f.size
				c.bytes -= uint64(f.size)
				c.count--
			}
		}
		return c, nil
	})
	if kind == "" && err == nil {
		s.forgetNames()
	}
	counted := kind
	if counted == "" {
		counted = key.DefaultKind
	}
	s.Count([]byte(counted), Removals, uint64(done.Entries))
	s.sweep()
	return done, err
}

// Trim counts the directory anew, evicts down to the cap, and sweeps what dead
// processes have left.
func (s *Store) Trim(ctx context.Context, progress Progress) (Cleared, error) {
	var done Cleared
	if s.refuse != None {
		return done, &Refused{s.refuse, s.root, "it cannot be written", ""}
	}
	if err := s.pass(ctx, progress, func(_ int, l listing) (cell, error) { return cellOf(l.files), nil }); err != nil {
		return done, err
	}
	lock, l := s.waitLedger(ctx)
	if lock != nil {
		defer lock.Unlock()
	}
	s.evict(l, nil)
	for i := range l.evicted.counts {
		done.Entries += int(l.evicted.counts[i][Evictions])
		done.Bytes += int64(l.evicted.counts[i][EvictedBytes])
	}
	s.sweep()
	l.swept = s.now()
	l.kinds.merge(&l.evicted)
	if e := s.writeLedger(l); e != 0 {
		return done, e
	}
	return done, nil
}

// pass visits every shard and then sets the ledger's cells to what fn has left.
// Puts of other processes go on meanwhile, and what they add to a shard after
// it was visited is lost to the ledger until the next look.
func (s *Store) pass(ctx context.Context, progress Progress, fn func(shard int, l listing) (cell, error)) error {
	var cells [shards]cell
	for i := range cells {
		cells[i].count = unknownCount
	}
	err := s.each(ctx, progress, func(shard int, l listing) error {
		c, err := fn(shard, l)
		cells[shard] = c
		return err
	})
	if s.refuse != None {
		return err
	}
	lock, l := s.waitLedger(ctx)
	if lock != nil {
		defer lock.Unlock()
	}
	p := &s.pending
	b := p.take()
	b.cells, b.stale = [shards]change{}, [shards]bool{} // counted by the visit
	s.merge(l, b)
	for i, c := range cells {
		if c.count != unknownCount {
			l.cells[i] = c
		}
	}
	if e := s.writeLedger(l); e != 0 && err == nil {
		err = &Refused{reasonOf(e), s.root, "its ledger cannot be written: " + e.Error(), ""}
	}
	p.mu.Lock()
	p.written = s.now()
	p.learn(s, l)
	p.mu.Unlock()
	return err
}

// ledgerWait is how long a command waits for the ledger's lock before it goes
// on without.
const ledgerWait = 2 * time.Second

// waitLedger takes the ledger's lock and reads it. Without the lock the worst
// is a count that is off until the next look.
func (s *Store) waitLedger(ctx context.Context) (unlocker, *ledger) {
	var lock unlocker
	for end := time.Now().Add(ledgerWait); time.Now().Before(end) && ctx.Err() == nil; time.Sleep(5 * time.Millisecond) {
		l, err := s.lockLedger()
		if l != nil {
			lock = l
			break
		}
		if err != nil {
			break
		}
	}
	l, _ := s.readLedger()
	return lock, l
}

type unlocker interface{ Unlock() }

// Usage returns what the ledger knows of the directory.
type Usage struct {
	Bytes, Entries int64
	Kinds          map[string]*Counters
	Zeroed         int64 // when the counters were last set to zero, 0 never
	Swept          int64
	RefusedAt      int64 // the last put that was refused by any process
	Refused        Reason
}

// Usage reads the ledger, and adds what this process has not written yet.
func (s *Store) Usage() Usage {
	l, _ := s.readLedger()
	p := &s.pending
	p.mu.Lock()
	s.merge(l, &batch{cells: p.cells, kinds: p.kinds, refused: p.refused})
	p.mu.Unlock()
	bytes, count := l.total()
	return Usage{int64(bytes), int64(count), l.kinds.byKind(), l.zeroed, l.swept, l.refused.at, l.refused.reason}
}

// Zero sets the counters to zero.
func (s *Store) Zero(ctx context.Context) error {
	if s.refuse != None {
		return &Refused{s.refuse, s.root, "it cannot be written", ""}
	}
	lock, l := s.waitLedger(ctx)
	if lock != nil {
		defer lock.Unlock()
	}
	b := s.pending.take()
	s.merge(l, b)
	l.kinds, l.zeroed, l.refused = counterTable{}, s.now(), refusalNote{}
	if e := s.writeLedger(l); e != 0 {
		return &Refused{reasonOf(e), s.root, "its ledger cannot be written: " + e.Error(), ""}
	}
	return nil
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
