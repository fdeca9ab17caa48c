package core

import (
	"jitcache/core/blob"
	"jitcache/core/key"
	"jitcache/core/store"
)

// Entries that are brought from elsewhere, as in a bundle.

// Taken is what Take has come to.
type Taken int

// What it can.
const (
	NotTaken    Taken = iota
	TakenNew          // it is stored now
	TakenBefore       // there is one already, which stays
	TakenIn           // it is part now of the note that was there
)

// Taking is a row of entries that are taken, by one goroutine; see store.Batch.
type Taking struct {
	c     *Cache
	batch store.Batch
}

// Taking begins a row. End ends it.
func (c *Cache) Taking() *Taking {
	t := &Taking{c: c}
	if c.store != nil {
		t.batch = c.store.Batch()
	}
	return t
}

// End ends the row.
func (t *Taking) End() {
	if t.c.store != nil {
		t.batch.Close()
	}
}

// Holds is Cache.Holds for many entries, most of which are not there.
func (t *Taking) Holds(id *key.ID) (*blob.Blob, store.Reason) {
	if t.c.store != nil && t.batch.Lacks(id) {
		return nil, store.Absent
	}
	return t.c.Holds(id)
}

// Take stores an entry from elsewhere, with the signatures that are on it.
// b is as store.Parse has left it, and the caller's alone. Unless unsigned says that
// nobody needs to have signed it, somebody who is trusted has; and whatever that says,
// it rests on nobody whose key was withdrawn. Else the reason is Signature.
//
// Of an entry that is there already merge makes one content of both, or nil for leaving
// it as it is. What it makes rests on the word of those on whose word either did.
func (t *Taking) Take(b *blob.Blob, unsigned bool, merge func(own, brought *blob.Blob) []byte) (Taken, store.Reason) {
	c := t.c
	if asksWho && (c.withdrawn(b) || !unsigned && !c.signed(b)) {
		return NotTaken, store.Signature
	}
	if c.store == nil {
		return NotTaken, store.NoDirectory
	}
	// Most are not there: whether one is, the put finds out.
	if taken, why := t.copy(b); taken != TakenBefore {
		return taken, why
	}
	id := key.ID(b.ID())
	own, why := c.Holds(&id)
	switch why {
	case store.None:
		defer own.Release()
		return c.takeIn(own, b, merge)
	case store.Signature:
		if _, why := c.store.Remove(&id); why != store.None {
			return NotTaken, why
		}
	}
	return t.copy(b)
}

// copy stores an entry, unless there is a good one.
func (t *Taking) copy(b *blob.Blob) (Taken, store.Reason) {
	w, why := t.batch.Copy(b, passedOn(b))
	switch {
	case why != store.None:
		return NotTaken, why
	case w.Created == 0:
		return TakenBefore, store.None
	}
	return TakenNew, store.None
}

func (c *Cache) takeIn(own, b *blob.Blob, merge func(own, brought *blob.Blob) []byte) (Taken, store.Reason) {
	data := merge(own, b)
	if data == nil {
		return TakenBefore, store.None
	}
	c.rely(own, false)
	c.rely(b, true)
	k := key.Key{ID: key.ID(own.ID()), Name: own.Name(), Kind: own.Kind()}
	if _, why := c.write(store.Item{Key: &k, Payload: data, Replace: true, Words: c.relied(&k.ID)}); why != store.None {
		return NotTaken, why
	}
	return TakenIn, store.None
}

// Holds returns the entry that the directory has under a key, and that a lookup would
// use; its recency stays as it is.
func (c *Cache) Holds(id *key.ID) (*blob.Blob, store.Reason) {
	if c.store == nil {
		return nil, store.NoDirectory
	}
	b, why := c.store.Peek(id)
	return c.unlessWithdrawn(b, why)
}
