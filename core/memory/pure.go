//go:build !cgo

// Package memory is the in-process tier. A program that is built without C has
// none: the launcher asks for one result and ends.
package memory

import "jitcache/core/blob"

// Memory is a tier; here there is none, and its methods are never called.
type Memory struct{}

// Due says what a hit asks of the caller that got it.
type Due int

const (
	Touch Due = 1 << iota // renew the recency of the entry's file
	Flush                 // write the counters
)

// New returns nil: no tier.
func New(uint64) *Memory { return nil }

// Get finds nothing.
func (m *Memory) Get(*[32]byte) (*blob.Blob, Due) { return nil, 0 }

// Put keeps nothing.
func (m *Memory) Put(*blob.Blob) {}

// Remove finds nothing.
func (m *Memory) Remove(*[32]byte) bool { return false }

// Clear has nothing to drop.
func (m *Memory) Clear(string) {}

// Ticket identifies the changes of a key that were made before it was taken.
type Ticket uint64

// Ticket returns a ticket that nothing compares.
func (m *Memory) Ticket(*[32]byte) Ticket { return 0 }

// Keep keeps nothing.
func (m *Memory) Keep(*blob.Blob, Ticket) {}

// Change is an ongoing change of one entry in the directory.
type Change struct{}

// Begin drops nothing.
func (m *Memory) Begin(*[32]byte, bool) (c Change, dropped bool) { return Change{}, false }

// End keeps nothing.
func (c *Change) End(bool, *blob.Blob) {}

// BeginClear has nothing to drop.
func (m *Memory) BeginClear(string) {}

// EndClear ends what BeginClear began.
func (m *Memory) EndClear() {}

// Size returns zeros.
func (m *Memory) Size() (bytes, count uint64) { return 0, 0 }

// Hits is a number of hits on entries of one kind.
type Hits struct {
	Kind  string
	Hits  uint64
	Saved uint64 // nanoseconds of compiling
}

// Drain returns none.
func (m *Memory) Drain() []Hits { return nil }
