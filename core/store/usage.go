// Usage: what the ledger says, with the changes that this process has not written yet.

package store

import (
	"context"
)

// Usage is the content of the ledger.
type Usage struct {
	Bytes, Entries int64
	Kinds          map[string]*Counters
	Zeroed         int64 // when the counters were last set to zero, 0 never
	Swept          int64
	RefusedAt      int64 // when a put was last refused, in any process
	Refused        Reason
}

// Usage reads the ledger, and adds the changes that this process has not written yet.
func (s *Store) Usage() Usage {
	l, _ := s.readLedger()
	p := &s.pending
	p.mu.Lock()
	s.mergeDelta(l, &ledgerDelta{cells: p.cells, kinds: p.kinds, refused: p.refused})
	p.mu.Unlock()
	bytes, count := l.total()
	return Usage{int64(bytes), int64(count), l.kinds.byKind(), l.zeroed, l.swept, l.refused.at, l.refused.reason}
}

// Zero sets the counters to zero, including those of the days.
func (s *Store) Zero(ctx context.Context) error {
	if s.refuse != None {
		return &Refused{s.refuse, s.root, "it cannot be written", ""}
	}
	lock, l := s.waitLedger(ctx)
	if lock != nil {
		defer lock.Unlock()
	}
	b := s.pending.takeDelta()
	s.mergeDelta(l, b)
	l.kinds, l.zeroed, l.refused = counterTable{}, s.now(), refusalNote{}
	s.forgetDays()
	if e := s.writeLedger(l); e != 0 {
		return &Refused{reasonOf(e), s.root, "its ledger cannot be written: " + e.Error(), ""}
	}
	return nil
}
