// The queue between the reader of a bundle and those who store its entries.

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

// queue holds the members that were read and not yet taken, in the order of the bundle.
// take returns what is there and does not wait for a full batch, because the bundle may
// come over a network that stalls.
type queue struct {
	mu      sync.Mutex
	changed sync.Cond
	items   []item
	bytes   int64
	ended   bool
}

const (
	// batchEntries is how many are taken at once. One by one, waking workers and opening
	// folders took as long as writing all entries.
	batchEntries = 32
	// mostQueued is how many bytes are queued before put waits.
	mostQueued = 1 << 20
)

func newQueue() *queue {
	q := &queue{}
	q.changed.L = &q.mu
	return q
}

// put adds an item. It waits while the queue is full.
func (q *queue) put(it item) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.items) >= 2*batchEntries || q.bytes >= mostQueued {
		q.changed.Wait()
	}
	q.items, q.bytes = append(q.items, it), q.bytes+it.member.Size
	q.changed.Broadcast()
}

// takeItems returns the next items. It waits for the first, and returns none at the end.
func (q *queue) takeItems() []item {
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
