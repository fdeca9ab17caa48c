// The queue of entries from remotes that are copied into the directory when the program pauses.

package core

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"jitcache/core/blob"
	"jitcache/core/key"
	"jitcache/core/store"
)

// What a remote has given is used at once, and copied into the directory when the program pauses:
// the copy takes as long as the remote does, and a program that starts asks for many entries in a
// row. Until then a lookup gets it from here. Whoever asks what is in the directory waits for the copy,
// so nobody in this process sees the directory without it.

const (
	// mostCopies and mostCopied bound how many entries, and how many bytes of them, wait to be
	// copied. From half of that on nobody waits for a pause. Beyond it the caller makes the copy,
	// as fast as the disk takes it.
	mostCopies = 256
	mostCopied = 16 << 20
	// pauseOfCopies is how long a program that pauses has got nothing from a remote. A hit of
	// 1 MB takes a third of it with a Redis on loopback.
	pauseOfCopies = 5 * time.Millisecond
)

// copying is what is to be copied into the directory.
type copying struct {
	busy   atomic.Bool // there is something
	mu     sync.Mutex
	done   *sync.Cond   // a copy was made; its lock is mu
	queue  []*blob.Blob // the first of which may be being copied
	bytes  int
	taken  uint64        // entries so far
	asking int           // who waits for copies
	hurry  chan struct{} // a pause ends early
	pause  time.Duration
}

// indexOf returns where in the queue the entry of a key is, -1 if it is not.
func (q *copying) indexOf(id *key.ID) int {
	return slices.IndexFunc(q.queue, func(b *blob.Blob) bool { return key.ID(b.ID()) == *id })
}

// entryOf returns the entry of a key with a reference for the caller, nil if it is not to be copied.
func (q *copying) entryOf(id *key.ID) *blob.Blob {
	if !q.busy.Load() || !waitsForCopies {
		return nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if at := q.indexOf(id); at >= 0 {
		return q.queue[at].Retain()
	}
	return nil
}

// urgent reports whether copies are made without waiting for a pause.
func (q *copying) urgent() bool {
	return q.asking > 0 || len(q.queue) > mostCopies/2 || q.bytes > mostCopied/2
}

// wake ends a pause that is waited for.
func (q *copying) wake() {
	select {
	case q.hurry <- struct{}{}:
	default: // it ends already
	}
}

// addEntry takes a blob, with a reference of its own, if there is room for it; it is not taken twice.
// first says that nobody makes the copies yet.
func (q *copying) addEntry(b *blob.Blob) (taken, first bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	id := key.ID(b.ID())
	if q.indexOf(&id) >= 0 {
		return true, false
	}
	if len(q.queue) >= mostCopies || q.bytes+len(b.Data()) > mostCopied {
		return false, false
	}
	if q.done == nil {
		q.done, q.hurry = sync.NewCond(&q.mu), make(chan struct{}, 1)
	}
	q.queue = append(q.queue, b.Retain())
	q.bytes += len(b.Data())
	q.taken++
	if q.urgent() {
		q.wake()
	}
	return true, !q.busy.Swap(true)
}

// next returns the blob that is to be copied after one that was, nil if there is none. It releases
// that one, which is nil at the start.
func (q *copying) next(copied *blob.Blob) *blob.Blob {
	q.mu.Lock()
	defer q.mu.Unlock()
	if copied != nil {
		q.queue = q.queue[1:]
		q.bytes -= len(copied.Data())
		copied.Release()
	}
	if len(q.queue) == 0 {
		q.queue = nil
		q.busy.Store(false)
	}
	q.done.Broadcast()
	if q.queue == nil {
		return nil
	}
	return q.queue[0]
}

// rest waits until the program pauses, unless copies are urgent. seen is what it has returned
// before: how much was taken when the last pause began.
func (q *copying) rest(seen uint64) uint64 {
	for {
		q.mu.Lock()
		taken, urgent := q.taken, q.urgent()
		q.mu.Unlock()
		if urgent || taken == seen || !copiesInPauses {
			return seen
		}
		select {
		case <-q.hurry: // it is urgent, or was when nobody rested
		case <-time.After(q.pause):
			seen = taken
		}
	}
}

// copyLater copies an entry of a remote into the directory, most often after it has returned.
func (c *Cache) copyLater(b *blob.Blob) {
	if c.store == nil {
		return
	}
	taken, first := c.copying.addEntry(b)
	switch {
	case !taken:
		c.copyIn(b)
	case first:
		go c.makeCopies()
	}
}

// makeCopies makes the copies that wait, until there are none.
func (c *Cache) makeCopies() {
	seen := uint64(0)
	for b := c.copying.next(nil); b != nil; b = c.copying.next(b) {
		seen = c.copying.rest(seen)
		c.makeCopy(b)
	}
}

func (c *Cache) makeCopy(b *blob.Blob) {
	defer func() {
		if r := recover(); r != nil { // as where the library is called: a host does not end for a cache
			c.log.warn("copy", "an entry of a remote is not copied: %v", r)
		}
	}()
	c.copyIn(b)
}

// settle waits until nothing is to be copied.
func (c *Cache) settle() {
	q := &c.copying
	if !q.busy.Load() || !waitsForCopies {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waitWhile(q.busy.Load)
}

// settleEntry waits until the entry of a key is not to be copied.
func (c *Cache) settleEntry(id *key.ID) {
	q := &c.copying
	if !q.busy.Load() || !waitsForCopies {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if at := q.indexOf(id); at > 1 { // it is the next
		b := q.queue[at]
		copy(q.queue[2:], q.queue[1:at])
		q.queue[1] = b
	}
	q.waitWhile(func() bool { return q.indexOf(id) >= 0 })
}

// waitWhile waits for copies as long as they are wanted. Its caller has the lock.
func (q *copying) waitWhile(wanted func() bool) {
	q.asking++
	defer func() { q.asking-- }()
	for wanted() {
		q.wake()
		q.done.Wait()
	}
}

// copyIn copies an entry of a layer into the cache's own directory, and reports whether it
// is there.
func (c *Cache) copyIn(b *blob.Blob) (copied bool) {
	if c.store == nil {
		return false
	}
	id := key.ID(b.ID())
	c.changeEntry(&id, false, func() (changed bool, keep *blob.Blob) {
		w, why := c.store.Copy(b, passedOn(b))
		if why != store.None {
			c.log.line(Debug, "not copied from a layer: %s: %v", label(b.Name(), id), why)
		}
		if changed = why == store.None && w.Created != 0; changed && c.memory != nil {
			keep = b
		}
		copied = why == store.None
		return changed, keep
	})
	return copied
}
