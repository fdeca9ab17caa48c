package bundle

import (
	"sync"

	"jitcache/core/blob"
)

// item is a member that was read.
type item struct {
	member *Member
	bytes  *blob.Blob
}

// queue is what was read and nobody has taken yet, in the order of the bundle. Who takes
// gets what is there, and does not wait for more: a bundle may come from afar, and stand
// still for a while.
type queue struct {
	mu      sync.Mutex
	changed sync.Cond
	items   []item
	bytes   int64
	ended   bool
}

const (
	// batchEntries is how many are taken at once. One by one, waking workers and opening
	// folders took as long as all that is written.
	batchEntries = 32
	// mostQueued are bytes from which on nothing more is read for now.
	mostQueued = 1 << 20
)

func newQueue() *queue {
	q := &queue{}
	q.changed.L = &q.mu
	return q
}

// put adds an item, once there is room.
func (q *queue) put(it item) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.items) >= 2*batchEntries || q.bytes >= mostQueued {
		q.changed.Wait()
	}
	q.items, q.bytes = append(q.items, it), q.bytes+it.member.Size
	q.changed.Broadcast()
}

// take returns the next items, none at the end.
func (q *queue) take() []item {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.items) == 0 && !q.ended {
		q.changed.Wait()
	}
	n := min(len(q.items), batchEntries)
	batch := append([]item(nil), q.items[:n]...)
	q.items = append(q.items[:0], q.items[n:]...)
	for _, it := range batch {
		q.bytes -= it.member.Size
	}
	q.changed.Broadcast()
	return batch
}

// end says that nothing more comes.
func (q *queue) end() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ended = true
	q.changed.Broadcast()
}
