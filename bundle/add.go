package bundle

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"

	"jitcache/core"
	"jitcache/core/blob"
	"jitcache/core/store"
	"jitcache/record"
)

// AddOptions say how a bundle is taken in.
type AddOptions struct {
	Bounds Bounds
	// Unsigned is the user's word that nobody needs to have signed the entries: whoever
	// has made the bundle runs code as this user.
	Unsigned bool
	// Progress is called with the number of members so far; it may be nil.
	Progress func(members int)
}

// Sum is what Add has come to, in entries.
type Sum struct {
	New    int // stored now
	Before int // that were there, and stay
	In     int // lists that were added to those that were there
	Bytes  int64
	// Unsigned are those that were left out, because nobody who is trusted has signed
	// them; Who says it of the first.
	Unsigned int
	Who      error
}

// Add takes the entries of a bundle into the directory of a cache. Each is verified in
// memory, and it is those bytes that are stored: what becomes of the file meanwhile does
// not matter. An entry that is there already is not verified, so that Add soon is where
// one that was interrupted has ended.
//
// A member that no bundle has ends it with an error. What was stored by then stays: each
// entry is good by itself.
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
			for batch := work.take(); len(batch) > 0; batch = work.take() {
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
	// mostWorkers bounds what is in memory: some batches beside one entry above inPlace.
	mostWorkers = 4
	// inPlace is the size from which an entry is taken before the next one is read.
	inPlace = 16 << 20
)

// adding is an Add that is under way.
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

// isThereNow is isThere for an entry that is not worth reading else.
func (a *adding) isThereNow(m *Member) bool {
	t := a.cache.Taking()
	defer t.End()
	return a.isThere(t, m)
}

// takeAll takes a batch, up to an entry that ends the adding.
func (a *adding) takeAll(batch []item) {
	t := a.cache.Taking()
	defer t.End()
	ok := true
	for _, it := range batch {
		if ok && !a.isThere(t, it.member) {
			ok = a.take(t, it)
		}
		it.bytes.Release()
	}
}

// isThere reports whether an entry is there that the bundle's cannot add anything to.
func (a *adding) isThere(t *core.Taking, m *Member) bool {
	b, why := t.Holds(&m.ID)
	if why != store.None {
		return false
	}
	defer b.Release()
	if b.Kind() == listsKind {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.sum.Before++
	return true
}

// take verifies an entry and stores it. False: the adding ends here.
func (a *adding) take(t *core.Taking, it item) bool {
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

// listsKind is the kind of entries that are notes, lists of observed compiles among them.
const listsKind = "manifest"

// mergeLists merges lists of two machines; other notes are each machine's own.
func mergeLists(own, brought *blob.Blob) []byte {
	a, err := record.ParseSet(own.Data())
	b, err2 := record.ParseSet(brought.Data())
	if err != nil || err2 != nil || !a.Merge(b) {
		return nil
	}
	return a.Append(nil)
}
