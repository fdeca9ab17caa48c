// Add: takes the entries of a bundle into the directory of a cache.

package bundle

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"

	"jitcache/core"
	"jitcache/core/blob"
	"jitcache/core/key"
	"jitcache/core/store"
	"jitcache/record"
)

// AddOptions say how Add takes a bundle in.
type AddOptions struct {
	Bounds Bounds
	// Unsigned takes entries without a trusted signature too. The user says so: whoever
	// made the bundle can then run code as this user.
	Unsigned bool
	// Progress is called with the number of members so far; it may be nil.
	Progress func(members int)
}

// Sum counts the entries that Add has read, by what became of them.
type Sum struct {
	New    int   // stored
	Before int   // in the directory already; they stay as they were
	In     int   // lists that were merged into lists of the directory
	Bytes  int64 // of New
	// Unsigned counts the entries that were left out because no trusted key has signed
	// them. Who is the error about the first of them.
	Unsigned int
	Who      error
}

// Add takes the entries of a bundle into the directory of a cache. It verifies each entry
// in memory and stores the verified bytes, so changes to the file meanwhile do not matter.
// It does not verify an entry that is in the directory already, so an Add that was
// interrupted soon gets back to where it was.
//
// A member that a bundle cannot have ends Add with an error. What was stored by then stays:
// each entry is valid by itself.
func Add(c *core.Cache, from io.Reader, o AddOptions) (Sum, error) {
	if s, err := c.Store(); err != nil {
		return Sum{}, err
	} else if why := s.Refuses(); why != store.None {
		return Sum{}, fmt.Errorf("%s: %v", s.Root(), why)
	}
	r, err := NewReader(from, o.Bounds)
	if err != nil {
		return Sum{}, err
	}
	defer r.Close()
	a := &adding{cache: c, options: o}
	work := newQueue()
	var workers sync.WaitGroup
	for range min(max(runtime.GOMAXPROCS(0), 2), mostWorkers) {
		workers.Go(func() {
			for batch := work.takeItems(); len(batch) > 0; batch = work.takeItems() {
				a.takeAll(batch)
			}
		})
	}
	a.readAll(r, work)
	work.end()
	workers.Wait()
	c.Flush()
	return a.sum, a.err
}

const (
	// mostWorkers bounds the memory: a batch per worker, and one entry above inPlace.
	mostWorkers = 4
	// inPlace is the size above which an entry is stored before the next one is read.
	inPlace = 16 << 20
)

// adding is the state of an Add.
type adding struct {
	cache   *core.Cache
	options AddOptions

	mu  sync.Mutex
	sum Sum
	err error
}

func (a *adding) readAll(r *Reader, work *queue) {
	for n := 1; a.goesOn(); n++ {
		m, err := r.Next()
		if err != nil {
			a.fail(err)
			return
		}
		if a.options.Progress != nil {
			a.options.Progress(n)
		}
		if m.Size > inPlace && a.isThereNow(m) {
			continue
		}
		b, err := r.bytes(m)
		switch it := (item{m, b}); {
		case err != nil:
			a.fail(err)
		case m.Size > inPlace:
			a.takeAll([]item{it})
		default:
			work.put(it)
		}
	}
}

// isThereNow is isThere outside a batch: a large entry is not even read if it is there.
func (a *adding) isThereNow(m *Member) bool {
	t := a.cache.Taking()
	defer t.End()
	return a.isThere(t, m)
}

// takeAll takes the entries of a batch, up to one that ends the Add.
func (a *adding) takeAll(batch []item) {
	t := a.cache.Taking()
	defer t.End()
	ok := true
	for _, it := range batch {
		if ok && !a.isThere(t, it.member) {
			ok = a.takeItem(t, it)
		}
		it.bytes.Release()
	}
}

// isThere reports whether the directory has the entry, and the bundle cannot add to it.
// Lists are different: those of the bundle are merged.
func (a *adding) isThere(t *core.Taking, m *Member) bool {
	b, why := t.Holds(&m.ID)
	if why != store.None {
		return false
	}
	defer b.Release()
	if b.Kind() == key.NoteKind {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.sum.Before++
	return true
}

// takeItem verifies an entry and stores it. It returns false if the Add ends here.
func (a *adding) takeItem(t *core.Taking, it item) bool {
	if err := Verify(it.member, it.bytes); err != nil {
		a.fail(err)
		return false
	}
	taken, why := t.Take(it.bytes, a.options.Unsigned, mergeLists)
	if why != store.None && why != store.Signature {
		a.fail(fmt.Errorf("member %s was not stored: %v", it.member.Name, why))
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	switch taken {
	case core.TakenNew:
		a.sum.New++
		a.sum.Bytes += it.member.Size
	case core.TakenBefore:
		a.sum.Before++
	case core.TakenIn:
		a.sum.In++
	default:
		if a.sum.Unsigned++; a.sum.Who == nil {
			a.sum.Who = &Refused{it.member.Name, string(core.SigningOf(it.bytes, a.cache.Signers()))}
		}
	}
	return true
}

func (a *adding) goesOn() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.err == nil
}

// fail keeps the first error.
func (a *adding) fail(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.err == nil && !errors.Is(err, io.EOF) {
		a.err = err
	}
}

// mergeLists merges the lists of two machines. Other notes stay: they are each machine's own.
func mergeLists(own, brought *blob.Blob) []byte {
	a, err := record.ParseSet(own.Data())
	b, err2 := record.ParseSet(brought.Data())
	if err != nil || err2 != nil || !a.Merge(b) {
		return nil
	}
	return a.Append(nil)
}
