// Counts: what lookups and puts add to the counters of their kind.

package store

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
