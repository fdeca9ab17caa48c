// Verify, clear and trim: passes over all shards.

package store

import (
	"context"
	"syscall"
	"time"
)

// Maintenance of a whole directory: Verify, Clear and Trim. Each visits all shards, and
// then corrects the ledger.

// Bad is a file that is not a good entry.
type Bad struct {
	Path   string
	Reason Reason
}

// Report is the outcome of Verify.
type Report struct {
	Entries int
	Bytes   int64
	Bad     []Bad
	Removed int // how many of Bad were removed
}

// Verify reads every entry and checks every byte. It removes damaged files, unless keep
// is set. It reports files of another user or a later version, but leaves them. The
// ledger's sizes are corrected.
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

// bad reports a file, removes it if that is allowed, and returns whether it did.
func (s *Store) bad(r *Report, f *file, why Reason, keep bool) bool {
	r.Bad = append(r.Bad, Bad{s.entries + shardName(f.shard) + "/" + f.name, why})
	if keep || !why.Damaged() || s.refuse != None {
		return false
	}
	d := s.newFolder()
	defer d.closeShard()
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
	fd, why := s.openEntry(&id, &st)
	if why != None {
		return why
	}
	defer closeFd(fd)
	b, why := s.readOpened(fd, &st, &id)
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

// Clear removes the entries of a kind and counts them. If kind is "", it removes all
// entries, and the names.
func (s *Store) Clear(ctx context.Context, kind string, progress Progress) (Cleared, error) {
	var done Cleared
	if s.refuse != None {
		return done, &Refused{s.refuse, s.root, "it cannot be written", ""}
	}
	err := s.pass(ctx, progress, func(_ int, l listing) (cell, error) {
		c := cellOf(l.files)
		d := s.newFolder()
		defer d.closeShard()
		for i := range l.files {
			f := &l.files[i]
			k, known := d.kindOf(f)
			if kind != "" && (!known || k != kind) || !d.unlink(f) {
				continue
			}
			s.Count([]byte(k), Removals, 1)
			done.Entries++
			done.Bytes += f.size
			c.bytes -= uint64(f.size)
			c.count--
		}
		return c, nil
	})
	if kind == "" && err == nil {
		s.forgetNames()
	}
	s.sweep()
	return done, err
}

// Trim counts the directory again, evicts down to the cap, and removes files that dead
// processes have left. The count is the first half of its progress.
func (s *Store) Trim(ctx context.Context, progress Progress) (Cleared, error) {
	var done Cleared
	if s.refuse != None {
		return done, &Refused{s.refuse, s.root, "it cannot be written", ""}
	}
	var half Progress
	if progress != nil {
		half = func(share float64, entries int) { progress(share/2, entries) }
	}
	if err := s.pass(ctx, half, func(_ int, l listing) (cell, error) { return cellOf(l.files), nil }); err != nil {
		return done, err
	}
	tooMuch := int64(0)
	end := time.Now().Add(ledgerWait) // for all waits together
	for {
		more, err := s.trimSome(ctx, end, &done)
		if err != nil {
			return done, err
		}
		if tooMuch == 0 {
			tooMuch = more + done.Bytes
		}
		if more <= 0 {
			break
		}
		if progress != nil {
			progress(1-float64(more)/float64(2*tooMuch), done.Entries)
		}
	}
	if progress != nil {
		progress(1, done.Entries)
	}
	return done, nil
}

// trimSome evicts for a while and adds to done. It returns how many bytes the directory
// is still above its cap. If it can do no more, it sweeps and returns 0.
func (s *Store) trimSome(ctx context.Context, end time.Time, done *Cleared) (more int64, err error) {
	lock, l := s.waitLedgerUntil(ctx, end)
	if lock != nil {
		defer lock.Unlock()
	}
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	s.evict(l, nil, &effort{time: slice})
	before := done.Entries
	done.addEvicted(&l.evicted)
	if total, _ := l.total(); s.MaxSize() > 0 && done.Entries > before {
		more = max(0, int64(total)-s.MaxSize())
	}
	if more == 0 {
		s.sweep()
		l.swept = s.now()
	}
	l.kinds.merge(&l.evicted)
	s.addDay(0, &l.evicted)
	return more, asError("write", s.v1+"/ledger", s.writeLedger(l))
}

func (c *Cleared) addEvicted(evicted *counterTable) {
	for i := range evicted.counts {
		c.Entries += int(evicted.counts[i][Evictions])
		c.Bytes += int64(evicted.counts[i][EvictedBytes])
	}
}

// pass calls fn for every shard, and then sets the ledger's cells to what fn has
// returned. Puts of other processes go on meanwhile. If they add to a shard after it
// was visited, the ledger misses that until the shard is counted again.
func (s *Store) pass(ctx context.Context, progress Progress, fn func(shard int, l listing) (cell, error)) error {
	var cells [shards]cell
	for i := range cells {
		cells[i].count = unknownCount
	}
	err := s.eachShard(ctx, progress, func(shard int, l listing) error {
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
	b := p.takeDelta()
	b.cells, b.stale = [shards]change{}, [shards]bool{} // counted by the visit
	s.mergeDelta(l, b)
	for i, c := range cells {
		if c.count != unknownCount {
			l.cells[i] = c
		}
	}
	if e := s.writeLedger(l); e != 0 && err == nil {
		err = &Refused{reasonOf(e), s.root, "its ledger cannot be written: " + e.Error(), ""}
	}
	s.addDay(b.day, &b.kinds)
	p.mu.Lock()
	p.written = s.now()
	p.learn(s, l)
	p.mu.Unlock()
	return err
}
