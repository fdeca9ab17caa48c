// Taking entries from elsewhere, such as a bundle, into the directory.

package core

import (
	"jitcache/core/blob"
	"jitcache/core/key"
	"jitcache/core/store"
)

// Taking in entries from elsewhere, for example from a bundle.

// Taken is the outcome of Take.
type Taken int

// The outcomes.
const (
	NotTaken    Taken = iota
	TakenNew          // the entry is stored now
	TakenBefore       // there was an entry, which stays
	TakenIn           // there was a note, and the entry is merged into it
)

// Taking takes in a series of entries, by one goroutine; see store.Batch.
type Taking struct {
	c     *Cache
	batch store.Batch
}

// Taking begins a series. End ends it.
func (c *Cache) Taking() *Taking {
	t := &Taking{c: c}
	if c.store != nil {
		t.batch = c.store.Batch()
	}
	return t
}

// End ends the series.
func (t *Taking) End() {
	if t.c.store != nil {
		t.batch.Close()
	}
}

// Holds is Cache.Holds, and is faster if most entries are not there.
func (t *Taking) Holds(id *key.ID) (*blob.Blob, store.Reason) {
	if t.c.store != nil && t.batch.Lacks(id) {
		return nil, store.Absent
	}
	return t.c.Holds(id)
}

// Take stores an entry from elsewhere, with its signatures. b is as store.Parse has left
// it, and nobody else uses it. If the entry rests on a withdrawn key, or has no signature
// of a trusted key and unsigned is false, it is not taken, and the reason is Signature.
//
// If there is an entry already, merge returns the content of both together, or nil to
// leave the entry as it is. The merged entry rests on the words of both.
func (t *Taking) Take(b *blob.Blob, unsigned bool, merge func(own, brought *blob.Blob) []byte) (Taken, store.Reason) {
	c := t.c
	if asksWho && (c.withdrawn(b) || !unsigned && !c.signed(b)) {
		return NotTaken, store.Signature
	}
	if c.store == nil {
		return NotTaken, store.NoDirectory
	}
	// Most entries are not there yet, and copy finds those that are.
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

// copy stores an entry, unless there is a good one already.
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
	if _, why := c.writeItem(store.Item{Key: &k, Payload: data, Replace: true, Words: c.relied(&k.ID)}); why != store.None {
		return NotTaken, why
	}
	return TakenIn, store.None
}

// Holds returns the directory's entry of a key, if a lookup would use it. The entry's
// recency does not change.
func (c *Cache) Holds(id *key.ID) (*blob.Blob, store.Reason) {
	if c.store == nil {
		return nil, store.NoDirectory
	}
	c.settleEntry(id)
	b, why := c.store.Peek(id)
	return c.unlessWithdrawn(b, why)
}
