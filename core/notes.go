package core

import (
	"jitcache/core/key"
	"jitcache/core/store"
)

// Notes are entries that the library makes for itself: what a compile has looked at,
// digests of large files. They live and age as the others do, but no counter knows of
// them, and the in-process tier does not have them; whoever reads one keeps what it
// says.

// LoadNote returns what was noted under a key, nil if there is nothing.
func (c *Cache) LoadNote(id *key.ID) []byte {
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

// SaveNote replaces it, if that can be done.
func (c *Cache) SaveNote(k *key.Key, data []byte) {
	c.write(store.Item{Key: k, Payload: data, Replace: true})
}

// WarnOnce gives a warning to the host, once per process and reason.
func (c *Cache) WarnOnce(reason, text string) { c.log.warn(reason, "%s", text) }

// MissedBecause counts and logs a miss of which the caller knows the reason: k is
// the request's key, why says in what the world has changed, "" if nothing was
// known of it.
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

// NotStored counts and logs a result that was handed out and not stored, for a
// reason that its maker knows: what says what is in the way.
func (c *Cache) NotStored(k *key.Key, kind string, why store.Reason, what string) {
	if c.store != nil {
		c.store.Count([]byte(kind), store.Compiles, 1)
		c.store.CountRefused([]byte(kind), why)
	}
	c.log.line(Info, "not stored: %s: %s", label(k.Name, k.ID), what)
}
