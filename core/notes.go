package core

import (
	"jitcache/core/blob"
	"jitcache/core/key"
	"jitcache/core/store"
)

// Notes are entries that the library makes for itself: what a source includes.
// They live and age as the others do, but no counter knows of them, and the
// in-process tier does not have them; whoever reads one keeps what it says.

// Recall returns a note, nil if there is none.
func (c *Cache) Recall(id *key.ID) []byte {
	if c.unread() != store.None {
		return nil
	}
	b, why := c.store.Get(id)
	if why != store.None {
		return nil
	}
	defer b.Release()
	return append([]byte(nil), b.Data()...)
}

// Note stores a note in the place of an earlier one, if that can be done.
func (c *Cache) Note(k *key.Key, data []byte) {
	c.write(store.Item{Key: k, Payload: data, Replace: true})
}

// Peek is Get for a caller who acquires next: it counts a hit, and leaves a miss
// to be counted then.
func (c *Cache) Peek(id *key.ID) (*blob.Blob, store.Reason) { return c.look(id) }
