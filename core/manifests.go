package core

import (
	"jitcache/core/key"
	"jitcache/core/store"
)

// Manifests are entries that the library makes for itself: what a source includes.
// They live and age as the others do, but no counter knows of them, and the
// in-process tier does not have them; whoever reads one keeps what it says.

// LoadManifests returns what was saved under a key, nil if there is nothing.
func (c *Cache) LoadManifests(id *key.ID) []byte {
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

// SaveManifests replaces it, if that can be done.
func (c *Cache) SaveManifests(k *key.Key, data []byte) {
	c.write(store.Item{Key: k, Payload: data, Replace: true})
}
