// What is counted, and the table of the counters by kind.

package store

import (
	"bytes"
	"encoding/binary"
	"slices"
	"sync"

	"jitcache/core/key"
)

// Counter names something that is counted, per kind. The numbers are positions in
// the ledger and are never reused.
type Counter int

// The counters. Misses by reason follow them, see MissCounter.
const (
	HitsMemory   Counter = 0
	HitsDisk     Counter = 1
	Puts         Counter = 2
	PutsRefused  Counter = 3
	Compiles     Counter = 4 // results committed under a lease
	CompileTime  Counter = 5 // nanoseconds that they took
	TimeSaved    Counter = 6 // nanoseconds of compiling that hits have saved
	Waits        Counter = 7 // lookups that waited for another's compile
	WaitTime     Counter = 8 // nanoseconds
	Evictions    Counter = 9
	EvictedBytes Counter = 10
	Removals     Counter = 11 // by remove and clear
	HitsLayer    Counter = 12 // in a layer
	HitsRemote   Counter = 13 // in a remote
	missBase     Counter = 16
	refusalBase  Counter = 48
	counterSlots         = 80
)

// MissCounter returns the counter of lookups that missed for a reason.
func MissCounter(r Reason) Counter { return missBase + Counter(r) }

// RefusedCounter returns the counter of puts that were not stored for a reason.
func RefusedCounter(r Reason) Counter { return refusalBase + Counter(r) }

// Counters are the counters of one kind.
type Counters [counterSlots]uint64

// Misses adds up the misses, whatever their reason.
func (c *Counters) Misses() (n uint64) {
	for r := None; r < reasonEnd; r++ {
		n += c[MissCounter(r)]
	}
	return n
}

// Add adds other to c.
func (c *Counters) Add(other *Counters) {
	for i := range c {
		c[i] += other[i]
	}
}

// counterTable holds the counters of up to 16 kinds. The last slot is for all
// kinds that have no slot of their own.
type counterTable struct {
	names  [maxKinds]string
	counts [maxKinds]Counters
}

const otherKind = "other"

// at returns the counters of a kind. A new kind gets a slot.
func (t *counterTable) at(kind []byte) *Counters {
	for i := range t.names {
		switch {
		case t.names[i] == string(kind):
		case i == maxKinds-1:
			t.names[i] = otherKind
		case t.names[i] == "":
			t.names[i] = string(kind)
		default:
			continue
		}
		return &t.counts[i]
	}
	panic("unreachable")
}

func (t *counterTable) merge(other *counterTable) {
	for i, name := range other.names {
		if name != "" {
			t.at([]byte(name)).Add(&other.counts[i])
		}
	}
}

// used returns how many slots have a kind; they are the first ones.
func (t *counterTable) used() (n int) {
	for n < maxKinds && t.names[n] != "" {
		n++
	}
	return n
}

func (t *counterTable) byKind() map[string]*Counters {
	m := make(map[string]*Counters)
	for i, name := range t.names {
		if name != "" {
			c := t.counts[i]
			m[name] = &c
		}
	}
	return m
}

func (t *counterTable) encode(b []byte) {
	for i := range t.names {
		at := b[i*kindSize:]
		copy(at[:key.MaxKind], t.names[i])
		for j, v := range t.counts[i] {
			binary.LittleEndian.PutUint64(at[key.MaxKind+8*j:], v)
		}
	}
}

func (t *counterTable) decode(b []byte) {
	for i := range t.names {
		at := b[i*kindSize:]
		t.names[i] = string(bytes.TrimRight(at[:key.MaxKind], "\x00"))
		for j := range t.counts[i] {
			t.counts[i][j] = binary.LittleEndian.Uint64(at[key.MaxKind+8*j:])
		}
	}
}

// Tally has the counters of one process without a directory, and so without a ledger.
// Its methods may be called from any goroutine.
type Tally struct {
	mu    sync.Mutex
	kinds counterTable
}

// Count adds n to a counter of a kind.
func (t *Tally) Count(kind []byte, c Counter, n uint64) {
	t.mu.Lock()
	t.kinds.at(kind)[c] += n
	t.mu.Unlock()
}

// ByKind returns the counters of each kind.
func (t *Tally) ByKind() map[string]*Counters {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.kinds.byKind()
}

// Kinds returns the names of m in order.
func Kinds(m map[string]*Counters) []string {
	names := make([]string, 0, len(m))
	for k := range m {
		names = append(names, k)
	}
	slices.Sort(names)
	return names
}
