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

// beginDay notes the day of the first count in kinds. mu is held. The clock is read only
// then, so that the following hits do not pay for it.
func (p *pending) beginDay(now func() int64) {
	if !p.counted {
		p.counted, p.day = true, DayOf(now())
	}
}

// countersOf returns the counters of a kind, to be added to. mu is held.
func (p *pending) countersOf(kind []byte, now func() int64) *Counters {
	p.beginDay(now)
	return p.kinds.at(kind)
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
type ledgerDelta struct {
	cells   [shards]change
	stale   [shards]bool
	kinds   counterTable
	day     int64 // of kinds
	refused refusalNote
}

// added returns by how much the directory has grown.
func (b *ledgerDelta) added() (bytes int64) {
	for _, d := range b.cells {
		bytes += d.bytes
	}
	return bytes
}

func (p *pending) takeDelta() *ledgerDelta {
	p.mu.Lock()
	defer p.mu.Unlock()
	b := &ledgerDelta{p.cells, p.stale, p.kinds, p.day, p.refused}
	p.cells, p.bytes, p.stale = [shards]change{}, 0, [shards]bool{}
	p.kinds, p.counted, p.day, p.refused = counterTable{}, false, 0, refusalNote{}
	return b
}

func (p *pending) returnDelta(b *ledgerDelta) {
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

func (s *Store) mergeDelta(l *ledger, b *ledgerDelta) {
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

// A killed process loses the counters of its last flushAfter. The bytes that it has
// added and not yet written to the ledger are at most the cap divided by flushShare.
const (
	flushAfter   = int64(10 * time.Second)
	flushShare   = 1024
	flushNoLimit = 64 << 20 // with an unlimited cap
)
