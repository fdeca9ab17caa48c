package core

import (
	"sync"
	"sync/atomic"

	"jitcache/core/blob"
	"jitcache/core/key"
)

// What a remote has given is used at once, and copied into the directory meanwhile: the copy takes
// as long as the remote does. Whoever asks what is in the directory waits until it is made, so
// nobody in this process sees the directory without it.

const (
	// mostCopies and mostCopied bound how many entries, and how many bytes of them, wait to be
	// copied. Beyond that the caller makes the copy, as fast as the disk takes it.
	mostCopies = 64
	mostCopied = 16 << 20
)

// copying is what is to be copied into the directory.
type copying struct {
	busy  atomic.Bool // there is something
	mu    sync.Mutex
	done  *sync.Cond   // a copy was made; its lock is mu
	queue []*blob.Blob // the first of which is being copied
	bytes int
}

// holds reports whether the entry of a key is to be copied.
func (q *copying) holds(id *key.ID) bool {
	for _, b := range q.queue {
		if key.ID(b.ID()) == *id {
			return true
		}
	}
	return false
}

// add takes a blob, with a reference of its own, if there is room for it; it is not taken twice.
// first says that nobody makes the copies yet.
func (q *copying) add(b *blob.Blob) (taken, first bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	id := key.ID(b.ID())
	if q.holds(&id) {
		return true, false
	}
	if len(q.queue) >= mostCopies || q.bytes+len(b.Data()) > mostCopied {
		return false, false
	}
	if q.done == nil {
		q.done = sync.NewCond(&q.mu)
	}
	q.queue = append(q.queue, b.Retain())
	q.bytes += len(b.Data())
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

// copyLater copies an entry of a remote into the directory, most often after it has returned.
func (c *Cache) copyLater(b *blob.Blob) {
	if c.store == nil {
		return
	}
	taken, first := c.copying.add(b)
	switch {
	case !taken:
		c.copyIn(b)
	case first:
		go c.makeCopies()
	}
}

// makeCopies makes the copies that wait, until there are none.
func (c *Cache) makeCopies() {
	for b := c.copying.next(nil); b != nil; b = c.copying.next(b) {
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
	for q.busy.Load() {
		q.done.Wait()
	}
}

// settleEntry waits until the entry of a key is not to be copied, and reports whether it was.
func (c *Cache) settleEntry(id *key.ID) (was bool) {
	q := &c.copying
	if !q.busy.Load() || !waitsForCopies {
		return false
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.holds(id) {
		was = true
		q.done.Wait()
	}
	return was
}
