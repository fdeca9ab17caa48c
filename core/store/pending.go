// Changes and counts of this process that the ledger does not have yet.

package store

import (
	"sync"
	"time"

	"jitcache/core/key"
)

// pending has the changes of this process that are not in the ledger yet. A put adds to
// it. Now and then it is written to the ledger, under a lock for which nobody waits: a
// process that was stopped while it held the lock stops no other.
type pending struct {
	mu       sync.Mutex // guards the fields below; never held during a system call
	cells    [shards]change
	bytes    int64        // sum over cells
	stale    [shards]bool // shards to be counted again, see flushBusy
	kinds    counterTable
	counted  bool  // kinds is not empty
	day      int64 // the day of the first count in kinds
	refused  refusalNote
	written  int64 // when the ledger was last written, nanoseconds since 1970
	hits     uint64
	total    uint64     // bytes of the directory, as the ledger had them
	count    uint64     // entries of the directory, likewise
	flushing sync.Mutex // held by the goroutine that writes the ledger
}

// A killed process loses the counters of its last flushAfter. The bytes that it has
// added and not yet written to the ledger are at most the cap divided by flushShare.
const (
	flushAfter   = int64(10 * time.Second)
	flushShare   = 1024
	flushNoLimit = 64 << 20 // with an unlimited cap
)

// init reads the size of the directory when it is opened.
func (p *pending) init(s *Store) {
	l, _ := s.readLedger()
	p.written = s.now()
	p.learn(s, l)
}

// learn notes the ledger's totals. The caller holds mu, or no other thread has p yet.
func (p *pending) learn(s *Store, l *ledger) {
	p.total, p.count = l.total()
	s.small.Store(fewAtCap(s.MaxSize(), p.total, p.count))
}

// fewAtCap reports whether a directory at its cap would have fewer entries than
// smallCount, if they are as large as the present ones. It is true for an empty
// directory, of which that is not known.
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

// fewAtCap is fewAtCap for the ledger's totals and the pending changes together: for a
// new directory the ledger has no totals for a long time.
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

// begin notes the day of the first count in kinds. mu is held. The clock is read only
// then, so that the following hits do not pay for it.
func (p *pending) begin(now func() int64) {
	if !p.counted {
		p.counted, p.day = true, DayOf(now())
	}
}

// countersOf returns the counters of a kind, to be added to. mu is held.
func (p *pending) countersOf(kind []byte, now func() int64) *Counters {
	p.begin(now)
	return p.kinds.at(kind)
}

// Count adds n to a counter of a kind.
func (s *Store) Count(kind []byte, c Counter, n uint64) {
	p := &s.pending
	p.mu.Lock()
	p.countersOf(kind, s.now)[c] += n
	p.mu.Unlock()
}

// CountHit counts a hit, where being HitsDisk, HitsLayer or HitsRemote, and the compile
// time that it has saved. Now and then it writes the ledger, so that the counters of a
// long-running process are seen. It evicts nothing: a lookup must be fast, and adds
// nothing to the directory.
func (s *Store) CountHit(where Counter, kind []byte, cost int64) {
	p := &s.pending
	p.mu.Lock()
	c := p.countersOf(kind, s.now)
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

// CountRefused counts a put that was not stored, and notes it for `jitcache doctor`.
func (s *Store) CountRefused(kind []byte, why Reason) {
	now := s.now()
	p := &s.pending
	p.mu.Lock()
	c := p.countersOf(kind, s.now)
	c[PutsRefused]++
	c[RefusedCounter(why)]++
	p.refused = refusalNote{now, why}
	p.mu.Unlock()
}

// old reports whether changes were not written for longer than flushAfter.
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

// batch has the changes that are taken from pending to be written.
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

// flushIfDue writes the ledger after a put if that is due, and evicts if the directory
// is above its cap. keep is the entry just written.
func (s *Store) flushIfDue(keep *key.ID) {
	if s.pending.due(s.MaxSize(), s.now()) {
		s.flush(keep, true)
	}
}

// FlushIfDue writes the ledger if that is due. Lookups call it, so that the counters of
// a long-running process are seen.
func (s *Store) FlushIfDue() {
	if s.pending.old(s.now()) {
		s.flush(nil, !putsShare)
	}
}

// finalWait is how long Flush waits for the ledger's lock, which others hold for a
// fraction of a millisecond. It waits because there is no later put that could write
// the counters.
const finalWait = 250 * time.Millisecond

// Flush writes the pending changes to the ledger. It waits for up to finalWait if
// another process is writing.
func (s *Store) Flush() {
	for end := time.Now().Add(finalWait); !s.flush(nil, true) && time.Now().Before(end); time.Sleep(time.Millisecond) {
	}
}

// flush writes the pending changes to the ledger, and evicts if evicts is set. It
// reports whether it is done: it has written, or can never write.
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
		p.begin(s.now)
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
