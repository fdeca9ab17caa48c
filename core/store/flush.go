// Flush: writing this process's changes to the ledger, and evicting beyond the cap.

package store

import (
	"time"

	"jitcache/core/key"
)

// flushIfDue writes the ledger after a put if that is due, and evicts if the directory
// is above its cap. keep is the entry just written.
func (s *Store) flushIfDue(keep *key.ID) {
	if s.pending.due(s.MaxSize(), s.now()) {
		s.flushLedger(keep, true)
	}
}

// FlushIfDue writes the ledger if that is due. Lookups call it, so that the counters of
// a long-running process are seen.
func (s *Store) FlushIfDue() {
	if s.pending.old(s.now()) {
		s.flushLedger(nil, !putsShare)
	}
}

// finalWait is how long Flush waits for the ledger's lock, which others hold for a
// fraction of a millisecond. It waits because there is no later put that could write
// the counters.
const finalWait = 250 * time.Millisecond

// Flush writes the pending changes to the ledger. It waits for up to finalWait if
// another process is writing.
func (s *Store) Flush() {
	for end := time.Now().Add(finalWait); !s.flushLedger(nil, true) && time.Now().Before(end); time.Sleep(time.Millisecond) {
	}
}

// flushLedger writes the pending changes to the ledger, and evicts if evicts is set. It
// reports whether it is done: it has written, or can never write.
func (s *Store) flushLedger(keep *key.ID, evicts bool) bool {
	p := &s.pending
	if s.refuse != None {
		return true
	}
	if !p.flushing.TryLock() {
		return false
	}
	defer p.flushing.Unlock()
	if !p.any() {
		return true
	}
	lock, err := s.lockLedger()
	if lock == nil && err == nil {
		s.flushBusy(keep, evicts)
		return false
	}
	if lock != nil {
		defer lock.Unlock()
	}
	l, _ := s.readLedger()
	b := p.takeDelta()
	s.mergeDelta(l, b)
	s.recount(l, recountBudget)
	if evicts {
		s.evict(l, keep, forPut(b.added()))
	}
	s.sweepDaily(l)
	l.kinds.merge(&l.evicted)
	if s.writeLedger(l) != 0 {
		p.returnDelta(b)
	} else {
		b.kinds.merge(&l.evicted)
		s.addDay(b.day, &b.kinds)
	}
	p.mu.Lock()
	p.written = s.now()
	p.learn(s, l)
	p.mu.Unlock()
	return true
}

// flushBusy does what cannot wait while another process has the ledger's lock: it
// evicts. The freed bytes go to pending like any change, so that this process takes them
// into account. The other process may see the same when it evicts, and if both subtracted
// them, the directory could grow beyond its cap by as much. So the shards that were
// looked at are counted again when the ledger is free. The write is tried again a second
// later.
func (s *Store) flushBusy(keep *key.ID, evicts bool) {
	l, _ := s.readLedger()
	p := &s.pending
	p.mu.Lock()
	p.learn(s, l)
	p.written = s.now() - flushAfter + int64(time.Second)
	for i, d := range p.cells {
		l.apply(i, d)
	}
	added := p.bytes
	p.mu.Unlock()
	if !evicts {
		return
	}
	before := l.cells
	s.evict(l, keep, forPut(added))
	for i := range before {
		if was, is := before[i], l.cells[i]; was != is && was.count != unknownCount {
			p.addShard(i, change{int64(is.bytes - was.bytes), int64(is.count - was.count)})
		}
	}
	p.mu.Lock()
	for i := range before {
		p.stale[i] = p.stale[i] || before[i] != l.cells[i]
	}
	if l.evicted.used() > 0 {
		p.beginDay(s.now)
		p.kinds.merge(&l.evicted)
	}
	p.mu.Unlock()
}
