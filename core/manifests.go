package core

import (
	"jitcache/core/key"
	"jitcache/core/store"
)

// Manifests are entries that the library makes for itself: what a source includes.
// They live and age like the others, but no counter counts them, and the
// in-process tier does not hold them; whoever reads one keeps its content.

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

// SaveManifests replaces what was saved under a key, if it can.
func (c *Cache) SaveManifests(k *key.Key, data []byte) {
	c.write(store.Item{Key: k, Payload: data, Replace: true})
}

// LoadNote returns what was noted under a key, nil if there is nothing.
func (c *Cache) LoadNote(id *key.ID) []byte { return c.LoadManifests(id) }

// SaveNote replaces what was noted under a key, if it can.
func (c *Cache) SaveNote(k *key.Key, data []byte) { c.SaveManifests(k, data) }

// MissedBecause counts and logs a miss whose reason the caller knows: k is the
// request's key, why says what has changed in the world, "" if nothing was known
// of it.
func (c *Cache) MissedBecause(k *key.Key, kind, why string) {
	if c.store != nil {
		c.store.Count([]byte(kind), store.MissCounter(store.Absent), 1)
	}
	if !c.log.wants(Miss) {
		return
	}
	if why == "" {
		why = store.Absent.String()
	}
	c.log.line(Miss, "%s: %s", label(k.Name, k.ID), why)
}

// NotStored counts and logs a result that was returned and not stored, for a
// reason that its maker knows: what says what is in the way.
func (c *Cache) NotStored(k *key.Key, kind string, why store.Reason, what string) {
	if c.store != nil {
		c.store.Count([]byte(kind), store.Compiles, 1)
		c.store.CountRefused([]byte(kind), why)
	}
	c.log.line(Info, "not stored: %s: %s", label(k.Name, k.ID), what)
}
