// What was read beside a change is not kept in memory.

package memory

import (
	"testing"

	"jitcache/core/blob"
)

// keep keeps an entry of size bytes that was read with a ticket.
func keep(t *testing.T, m *Memory, n, size int, ticket Ticket) {
	t.Helper()
	b := entry(t, n, size, "generic")
	m.Keep(b, ticket)
	b.Release()
}

func ticket(m *Memory, n int) Ticket {
	key := id(n)
	return m.Ticket(&key)
}

// begin begins a change of an entry, and returns the function that ends it.
func begin(t *testing.T, m *Memory, n int, old bool) (end func(changed bool, size int)) {
	t.Helper()
	key := id(n)
	c, _ := m.Begin(&key, old)
	return func(changed bool, size int) {
		if size == 0 {
			c.End(changed, nil)
			return
		}
		b := entry(t, n, size, "generic")
		c.End(changed, b)
		b.Release()
	}
}

// kept returns the size of the entry that is kept, 0 if none is.
func kept(m *Memory, n int) int {
	key := id(n)
	b, _ := m.Get(&key)
	if b == nil {
		return 0
	}
	defer b.Release()
	return len(b.Data())
}

func TestWhatWasReadBesideAChangeIsNotKept(t *testing.T) {
	before := blob.Live()
	m := New(1 << 20)
	early := ticket(m, 1)
	end := begin(t, m, 1, true)
	keep(t, m, 1, 10, early)
	during := ticket(m, 1)
	keep(t, m, 1, 10, during)
	if kept(m, 1) != 0 {
		t.Error("kept during the change")
	}
	end(true, 0)
	keep(t, m, 1, 10, early)
	keep(t, m, 1, 10, during)
	if kept(m, 1) != 0 {
		t.Error("kept after the change, with a ticket from before its end")
	}
	keep(t, m, 1, 20, ticket(m, 1))
	if kept(m, 1) != 20 {
		t.Error("not kept with a ticket from after the change")
	}
	m.Free()
	if blob.Live() != before {
		t.Errorf("%d blobs leak", blob.Live()-before)
	}
}

func TestWhatAChangeLeavesBehind(t *testing.T) {
	for _, c := range []struct {
		name         string
		old, changed bool
		size         int // of the entry that is kept at its end
		during, then int // sizes of what a lookup returns
	}{
		{"removed", true, true, 0, 0, 0},
		{"replaced", true, true, 20, 0, 20},
		{"put where there was none", false, true, 20, 10, 20},
		{"put where there was one", false, false, 0, 10, 10},
		{"stored, and no memory for it", false, true, 0, 10, 0},
		{"not stored, for want of room on the disk", true, false, 20, 0, 20},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := New(1 << 20)
			defer m.Free()
			keep(t, m, 1, 10, ticket(m, 1))
			keep(t, m, 2, 10, ticket(m, 2))
			end := begin(t, m, 1, c.old)
			if got := kept(m, 1); got != c.during {
				t.Errorf("during the change: %d bytes, want %d", got, c.during)
			}
			end(c.changed, c.size)
			if got := kept(m, 1); got != c.then {
				t.Errorf("afterwards: %d bytes, want %d", got, c.then)
			}
			if kept(m, 2) != 10 {
				t.Error("another entry has changed")
			}
		})
	}
}

// If two changes overlap, neither knows which result the directory has at the end.
func TestOverlappingChangesKeepNothing(t *testing.T) {
	before := blob.Live()
	m := New(1 << 20)
	for _, old := range []bool{false, true} {
		for _, inside := range []bool{false, true} {
			first, second := begin(t, m, 1, old), begin(t, m, 1, true)
			if inside {
				first, second = second, first
			}
			first(true, 10)
			second(true, 20)
			if n := kept(m, 1); n != 0 {
				t.Errorf("old %v, one inside the other %v: %d bytes", old, inside, n)
			}
		}
	}
	begin(t, m, 1, true)(true, 30)
	if kept(m, 1) != 30 {
		t.Error("a change by itself keeps nothing")
	}
	m.Free()
	if blob.Live() != before {
		t.Errorf("%d blobs leak", blob.Live()-before)
	}
}

func TestClearIsAChangeOfEveryKey(t *testing.T) {
	m := New(1 << 20)
	defer m.Free()
	put(t, m, 1, 10, "cubin")
	put(t, m, 2, 10, "native")
	early := ticket(m, 3)
	m.BeginClear("cubin")
	end := begin(t, m, 4, false)
	keep(t, m, 3, 10, early)
	end(true, 10)
	m.EndClear()
	for n, want := range map[int]int{1: 0, 2: 10, 3: 0, 4: 0} {
		if got := kept(m, n); got != want {
			t.Errorf("entry %d: %d bytes, want %d", n, got, want)
		}
	}
	keep(t, m, 3, 10, ticket(m, 3))
	if kept(m, 3) != 10 {
		t.Error("nothing is kept after it has ended")
	}
}

// A binding keeps an entry for as long as the epoch does not change (memory.h).
func TestEndOfWhatMakesBytesOldRaisesTheEpoch(t *testing.T) {
	m := New(1 << 20)
	defer m.Free()
	for name, change := range map[string]func(){
		"remove": func() { begin(t, m, 1, true)(true, 0) },
		"clear":  func() { m.BeginClear(""); m.EndClear() },
	} {
		was := m.epoch()
		change()
		if m.epoch() == was {
			t.Errorf("%s of what is not here leaves the epoch as it is", name)
		}
	}
	was := m.epoch()
	begin(t, m, 2, false)(true, 10)
	if m.epoch() != was {
		t.Error("a put of what was not here raises the epoch")
	}
}
