package store

import (
	"sync"
	"time"

	"jitcache/core/key"
)

// pending is what this process has done and the ledger does not know yet. A put
// adds to it; every so often it is written down, under a lock that is only ever
// tried: a process that was stopped while it held the lock stops nobody.
type pending struct {
	mu       sync.Mutex // guards what follows, never held over a system call
	cells    [shards]change
	bytes    int64        // sum over cells
	stale    [shards]bool // to be counted anew, see flushBusy
	kinds    counterTable
	counted  bool  // kinds has something
	day      int64 // on which the first of it was counted
	refused  refusalNote
	written  int64 // when the ledger was last written, unix nanoseconds
	hits     uint64
	total    uint64
	count    uint64
	flushing sync.Mutex // held by the goroutine that writes the ledger
}

// Counters that a killed process loses are those of its last flushAfter; the
// size that it has added beyond what the ledger knows is at most a thousandth
// of the cap.
const (
	flushAfter   = int64(10 * time.Second)
	flushShare   = 1024
	flushNoLimit = 64 << 20 // with an unlimited cap
)

// init learns the size of the directory, when it is opened.
func (p *pending) init(s *Store) {
	l, _ := s.readLedger()
	p.written = s.now()
	p.learn(s, l)
}

// learn takes note of the ledger's totals. Whoever calls it holds mu or is
// alone.
func (p *pending) learn(s *Store, l *ledger) {
	p.total, p.count = l.total()
	s.small.Store(fewAtCap(s.MaxSize(), p.total, p.count))
}

// fewAtCap reports whether a directory at its cap would hold fewer entries than
// smallCount, going by those it has. For an empty one nobody knows, so it is
// true.
func fewAtCap(limit int64, total, count uint64) bool {
	if limit == 0 || count == 0 {
		return limit != 0
	}
	return uint64(limit)/smallCount < total/count
}

// addEntry notes a change to the shard of id.
func (s *Store) addEntry(id *key.ID, d change) {
	s.pending.addShard(int(id[0]), d)
	if s.small.Load() {
		s.small.Store(s.pending.fewAtCap(s.MaxSize()))
	}
}

// fewAtCap is fewAtCap of what the ledger says and what it does not know yet: of a
// new directory it is asked long before the ledger says anything.
func (p *pending) fewAtCap(limit int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	total, count := int64(p.total)+p.bytes, int64(p.count)
	for i := range p.cells {
		count += p.cells[i].count
	}
	return fewAtCap(limit, uint64(max(total, 0)), uint64(max(count, 0)))
}

func (p *pending) addShard(shard int, d change) {
	p.mu.Lock()
	p.cells[shard].bytes += d.bytes
	p.cells[shard].count += d.count
	p.bytes += d.bytes
	p.mu.Unlock()
}

// begin notes on which day the first of what is counted was. mu is held. The clock is
// read only then: the hits that follow do not wait for it.
func (p *pending) begin(now func() int64) { p.counted, p.day = true, DayOf(now()) }

// Count adds n to a counter of a kind.
func (s *Store) Count(kind []byte, c Counter, n uint64) {
	p := &s.pending
	p.mu.Lock()
	if !p.counted {
		p.begin(s.now)
	}
	p.kinds.at(kind)[c] += n
	p.mu.Unlock()
}

// CountHit counts a hit on disk, where HitsDisk, HitsLayer or HitsRemote, and the compile that it
// saved. Now and then it writes the ledger, so that the counters of a long-running
// process are seen. It evicts nothing: a lookup must be fast, and has added nothing.
func (s *Store) CountHit(where Counter, kind []byte, cost int64) {
	p := &s.pending
	p.mu.Lock()
	if !p.counted {
		p.begin(s.now)
	}
	c := p.kinds.at(kind)
	c[where]++
	c[TimeSaved] += uint64(max(cost, 0))
	p.hits++
	look := p.hits%hitsPerLook == 0
	p.mu.Unlock()
	if look {
		s.FlushIfDue()
	}
}

// hitsPerLook is how many disk hits pass between two looks at the clock.
const hitsPerLook = 16

// CountRefused counts a put that was not stored, and notes it for doctor.
func (s *Store) CountRefused(kind []byte, why Reason) {
	now := s.now()
	p := &s.pending
	p.mu.Lock()
	if !p.counted {
		p.begin(s.now)
	}
	c := p.kinds.at(kind)
	c[PutsRefused]++
	c[RefusedCounter(why)]++
	p.refused = refusalNote{now, why}
	p.mu.Unlock()
}

// old reports whether something has waited long to be written.
func (p *pending) old(now int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return (p.bytes != 0 || p.counted) && now-p.written > flushAfter
}

// due reports whether the ledger should be written after a put.
func (p *pending) due(limit, now int64) bool {
	if p.old(now) {
		return true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bytes == 0 && !p.counted {
		return false
	}
	share := int64(flushNoLimit)
	if limit > 0 {
		share = limit / flushShare
		if int64(p.total)+p.bytes > limit {
			return true
		}
	}
	return p.bytes > share || -p.bytes > share
}

// any reports whether there is anything to write.
func (p *pending) any() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.counted || p.cells != [shards]change{}
}

// batch is what is taken from pending to be written.
type batch struct {
	cells   [shards]change
	stale   [shards]bool
	kinds   counterTable
	day     int64 // of kinds
	refused refusalNote
}

// added returns by how much the directory has grown.
func (b *batch) added() (bytes int64) {
	for _, d := range b.cells {
		bytes += d.bytes
	}
	return bytes
}

func (p *pending) take() *batch {
	p.mu.Lock()
	defer p.mu.Unlock()
	b := &batch{p.cells, p.stale, p.kinds, p.day, p.refused}
	p.cells, p.bytes, p.stale = [shards]change{}, 0, [shards]bool{}
	p.kinds, p.counted, p.day, p.refused = counterTable{}, false, 0, refusalNote{}
	return b
}

func (p *pending) giveBack(b *batch) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, d := range b.cells {
		p.cells[i].bytes += d.bytes
		p.cells[i].count += d.count
		p.bytes += d.bytes
		p.stale[i] = p.stale[i] || b.stale[i]
	}
	b.kinds.merge(&p.kinds)
	p.kinds, p.counted = b.kinds, true
	if b.day != 0 {
		p.day = b.day
	}
	if p.refused.at == 0 {
		p.refused = b.refused
	}
}

// flushIfDue writes the ledger after a put if it is due, and evicts if the cap is
// crossed. keep is the entry just written.
func (s *Store) flushIfDue(keep *key.ID) {
	if s.pending.due(s.MaxSize(), s.now()) {
		s.flush(keep, true)
	}
}

// FlushIfDue writes the ledger if that is due: a long-running process calls it on
// its lookups, so that its counters are seen.
func (s *Store) FlushIfDue() {
	if s.pending.old(s.now()) {
		s.flush(nil, !putsShare)
	}
}

// finalWait is how long the last write of a process waits for the ledger's
// lock, which others hold for a fraction of a millisecond. There is no later put
// that could take the counters along.
const finalWait = 250 * time.Millisecond

// Flush writes what is pending into the ledger. It waits a little if somebody
// else is writing.
func (s *Store) Flush() {
	for end := time.Now().Add(finalWait); !s.flush(nil, true) && time.Now().Before(end); time.Sleep(time.Millisecond) {
	}
}

// flush reports whether it has written, or never will.
func (s *Store) flush(keep *key.ID, evicts bool) bool {
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
	b := p.take()
	s.merge(l, b)
	s.recount(l, recountBudget)
	if evicts {
		s.evict(l, keep, forPut(b.added()))
	}
	s.sweepDaily(l)
	l.kinds.merge(&l.evicted)
	if s.writeLedger(l) != 0 {
		p.giveBack(b)
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

// flushBusy does what cannot wait while another process has the ledger: it keeps
// the cap. What it frees goes to pending like any change, but only this process
// reckons with it. The other process may see it itself when it evicts; subtracted
// twice it would hide as much from the cap. So the shards that were looked at are
// counted anew once the ledger is free. The rest is tried again a second later.
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
		if !p.counted {
			p.begin(s.now)
		}
		p.kinds.merge(&l.evicted)
	}
	p.mu.Unlock()
}

func (s *Store) merge(l *ledger, b *batch) {
	for i, d := range b.cells {
		switch {
		case b.stale[i]:
			l.cells[i] = cell{0, unknownCount}
		case d != (change{}):
			l.apply(i, d)
		}
	}
	l.kinds.merge(&b.kinds)
	if b.refused.at > l.refused.at {
		l.refused = b.refused
	}
}
