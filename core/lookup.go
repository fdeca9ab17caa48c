// Lookups: in memory, in the directory, and beyond it.

package core

import (
	"jitcache/core/blob"
	"jitcache/core/key"
	"jitcache/core/memory"
	"jitcache/core/store"
)

// Get looks an entry up: memory, then disk. It returns a blob with a reference
// for the caller, or nil and why it missed. It calls sealed for the whole key
// if it explains the miss; sealed may be nil.
func (c *Cache) Get(id *key.ID, kind []byte, sealed func() *key.Key) (*blob.Blob, store.Reason) {
	if b := c.fromMemory(id); b != nil {
		return b, store.None
	}
	return c.Lookup(id, kind, NotOpened, sealed)
}

// EntryPaths returns the prefixes of the paths of entries (store.EntryPath): the own
// directory's, then each layer's. They are for a caller that opens entries itself, in
// that order. If no directory has an entry and GoesBeyond is false, the caller need not
// call Lookup; it counts the miss with Missed. There are no prefixes if lookups do not
// read the directory, or if every miss is logged.
func (c *Cache) EntryPaths() (paths []string) {
	if c.unread() != store.None || c.store == nil || c.log.wants(Miss) {
		return nil
	}
	layers := c.used
	if !goesOn {
		layers = nil
	}
	paths = append(paths, c.store.EntryPath())
	for _, l := range layers {
		paths = append(paths, l.store.EntryPath())
	}
	return paths
}

// GoesBeyond reports whether a lookup asks remotes if no directory has the entry.
func (c *Cache) GoesBeyond() bool { return len(c.remotes.used) > 0 }

// Missed counts n misses of a caller that did not call Lookup, as EntryPaths and Quiet
// allow. why is the reason.
func (c *Cache) Missed(kind []byte, why store.Reason, n uint64) {
	if c.store != nil {
		c.store.Count(kind, store.MissCounter(why), n)
	}
}

// Lookup is Get for a caller that has looked in memory, and may have opened the file.
func (c *Cache) Lookup(id *key.ID, kind []byte, opened Opened, sealed func() *key.Key) (*blob.Blob, store.Reason) {
	b, _, why := c.fromDisk(id, opened)
	if why != store.None {
		c.missed(id, kind, why, sealed)
	}
	return b, why
}

// Peek is Get for a caller that calls Acquire next: it counts a hit, but not a miss,
// which Acquire counts.
func (c *Cache) Peek(id *key.ID) (*blob.Blob, store.Reason) { return c.getUncounted(id) }

// PeekFrom is Peek for a caller that must know whether the entry was made here. foreign
// says that it has come from a remote, now or before, or that somebody else has signed it.
// PeekFrom does not look in memory: what a remote gave is kept there as it came, and only
// its copy on disk is marked.
func (c *Cache) PeekFrom(id *key.ID) (b *blob.Blob, foreign bool, why store.Reason) {
	b, where, why := c.fromDisk(id, NotOpened)
	return b, b != nil && (where == store.HitsRemote || c.madeElsewhere(b)), why
}

// getUncounted is Get without counting a miss.
func (c *Cache) getUncounted(id *key.ID) (*blob.Blob, store.Reason) {
	if b := c.fromMemory(id); b != nil {
		return b, store.None
	}
	b, _, why := c.fromDisk(id, NotOpened)
	return b, why
}

func (c *Cache) fromMemory(id *key.ID) *blob.Blob {
	if c.memory == nil {
		return nil
	}
	b, due := c.memory.Get((*[32]byte)(id))
	if due != 0 {
		c.Maintain(id, due)
	}
	return b
}

// readOwn reads an entry of the own directory, and returns the ticket that was taken before.
func (c *Cache) readOwn(id *key.ID, opened Opened) (*blob.Blob, memory.Ticket, store.Reason) {
	switch {
	case c.isOwn(&opened):
		b, why := c.unlessWithdrawn(c.store.GetFrom(opened.Fd, id))
		return b, opened.Ticket, why
	case opened.Fd == NotThere || c.layerOf(&opened) >= 0:
		return nil, opened.Ticket, store.Absent
	}
	var ticket memory.Ticket
	if c.memory != nil {
		ticket = c.memory.Ticket((*[32]byte)(id))
	}
	if c.store == nil {
		return nil, ticket, store.NoDirectory
	}
	b, why := c.own(id)
	return b, ticket, why
}

func (c *Cache) fromDisk(id *key.ID, opened Opened) (b *blob.Blob, where store.Counter, why store.Reason) {
	if why := c.unread(); why != store.None {
		return nil, 0, why
	}
	b, ticket, why := c.readOwn(id, opened)
	where = store.HitsDisk
	if why != store.None {
		b, where, why = c.goOn(id, why, &opened)
	}
	if why != store.None {
		return nil, 0, why
	}
	c.countHit(where, b)
	c.uses(id)
	switch {
	case c.memory == nil:
	case inOrder:
		c.memory.Keep(b, ticket)
	default:
		c.memory.Put(b)
	}
	return b, where, store.None
}

// LookupInto is Lookup into a buffer: it copies the payload to buf and returns its
// size. If that is larger than buf, nothing was copied, and the caller calls again
// with a larger buffer. Without an in-process tier the payload is read straight into
// buf; if buf has some room beyond the payload, that takes one read.
func (c *Cache) LookupInto(id *key.ID, kind, buf []byte, opened Opened, sealed func() *key.Key) (int, store.Reason) {
	if c.memory != nil || c.unread() != store.None || c.settings.keys.AnyWithdrawn() {
		b, why := c.Lookup(id, kind, opened, sealed)
		if why != store.None {
			return 0, why
		}
		defer b.Release()
		if len(b.Data()) <= len(buf) {
			copy(buf, b.Data())
		}
		return len(b.Data()), store.None
	}
	size, entryKind, cost, why := c.readInto(id, buf, opened)
	if why == store.None {
		if size <= len(buf) {
			c.store.CountHit(store.HitsDisk, entryKind, cost)
			c.uses(id)
		}
		return size, why
	}
	b, where, why := c.goOn(id, why, &opened)
	if why != store.None {
		c.missed(id, kind, why, sealed)
		return 0, why
	}
	defer b.Release()
	if len(b.Data()) <= len(buf) {
		copy(buf, b.Data())
		c.countHit(where, b)
		c.uses(id)
	}
	return len(b.Data()), why
}

func (c *Cache) readInto(id *key.ID, buf []byte, opened Opened) (size int, kind []byte, cost int64, why store.Reason) {
	switch {
	case c.store == nil:
		return 0, nil, 0, store.NoDirectory
	case c.isOwn(&opened):
		return c.store.GetIntoFrom(opened.Fd, id, buf)
	case opened.Fd == NotThere || c.layerOf(&opened) >= 0:
		return 0, nil, 0, store.Absent
	}
	return c.store.GetInto(id, buf)
}

// Maintain does what a hit in memory asks for: it renews the entry's recency on disk,
// or writes the counters.
func (c *Cache) Maintain(id *key.ID, due memory.Due) {
	if c.store == nil {
		return
	}
	if due&memory.Touch != 0 {
		c.store.Touch(id)
	}
	if due&memory.Flush != 0 {
		c.drain()
		c.store.FlushIfDue()
	}
}

// Used counts n hits on entries of a kind that the host has returned itself, if there
// is no tier to count them.
func (c *Cache) Used(kind []byte, n uint64) {
	c.addToCounter(kind, store.HitsMemory, n)
}

// missed counts and logs a miss.
func (c *Cache) missed(id *key.ID, kind []byte, why store.Reason, sealed func() *key.Key) {
	c.addToCounter(kind, store.MissCounter(why), 1)
	level := Miss
	if key.IsInternal(kind) {
		level = Debug
	}
	if c.log.wants(level) {
		c.logMiss(level, id, why, sealed)
	}
}

// Explain looks a key up without counting it.
func (c *Cache) Explain(k *key.Key) Explanation {
	var b *blob.Blob
	why := c.unread()
	if why == store.None {
		b, _, why = c.readOwn(&k.ID, NotOpened) // which counts nothing
	}
	if b == nil && c.Layered() && why != store.Off && why != store.Refresh {
		b, _, why = c.goOn(&k.ID, why, &NotOpened)
	}
	if b == nil {
		if b = c.fromMemory(&k.ID); b != nil {
			why = store.None
		}
	}
	if b != nil {
		b.Release()
	}
	e := c.explain(k, why)
	e.Refused = c.LastRefusal(k.Name)
	return e
}
