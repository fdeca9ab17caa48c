// Notes: small internal entries, such as the lists of what compiles looked at, and whose word each
// rests on.

package core

import (
	"iter"
	"slices"
	"time"

	"jitcache/core/blob"
	"jitcache/core/key"
	"jitcache/core/store"
)

// Notes are entries that the library makes for itself: what a compile has looked at,
// digests of large files. They are stored and evicted like the others, but no counter
// counts them, and the in-process tier does not hold them: their readers keep the content.

// LoadNote returns the note under a key, nil if there is none.
func (c *Cache) LoadNote(id *key.ID) []byte {
	if c.unread() != store.None || c.store == nil {
		return nil
	}
	c.settleEntry(id)
	b, why := c.own(id)
	return c.noteContent(b, why, false)
}

// noteContent returns the content of a note, and remembers on whose word it rests. brought says
// that it has not come from the cache's own directory.
func (c *Cache) noteContent(b *blob.Blob, why store.Reason, brought bool) []byte {
	if why != store.None {
		return nil
	}
	defer b.Release()
	c.rely(b, brought)
	return append([]byte(nil), b.Data()...)
}

// LayerNotes returns the notes under a key in the layers and remotes, in their order.
func (c *Cache) LayerNotes(id *key.ID) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		if c.unread() != store.None {
			return
		}
		for _, l := range c.used {
			b, why := c.fromLayer(l, id, -1)
			if note := c.noteContent(b, why, true); note != nil && !yield(note) {
				return
			}
		}
		if c.remotes.knownAbsent(id) {
			return
		}
		lost := time.Duration(0)
		for _, r := range c.remotes.used {
			if !r.Reads {
				continue
			}
			b, why, _, paid := c.fromRemote(r, id)
			lost += paid
			if note := c.noteContent(b, why, true); note != nil && !yield(note) {
				return
			}
		}
		c.remotes.noteAbsent(id, lost)
	}
}

// SaveNote replaces the note under a key, if it can.
func (c *Cache) SaveNote(k *key.Key, data []byte) {
	c.writeItem(store.Item{Key: k, Payload: data, Replace: true, Words: c.relied(&k.ID)})
}

// ShareNote is SaveNote for a note that other machines may use too.
func (c *Cache) ShareNote(k *key.Key, data []byte) {
	if w, why := c.writeItem(store.Item{Key: k, Payload: data, Replace: true, Words: c.relied(&k.ID)}); why == store.None && w.Created != 0 {
		c.offer(&k.ID)
	}
}

// RestNote says that what this process writes under a key from now on rests on what it has read under
// another: on the same keys' word.
func (c *Cache) RestNote(id, on *key.ID) {
	if *id == *on {
		return
	}
	c.words.mu.Lock()
	defer c.words.mu.Unlock()
	for _, k := range c.words.of[*on] {
		if !slices.Contains(c.words.of[*id], k) {
			c.words.of[*id] = append(c.words.of[*id], k)
		}
	}
}

// LockNote takes a lock for those who change the note under a key, or notes that belong to it. It waits
// while others hold it, but for at most patience: a stopped process must not stop others. What is lost
// then is a note.
func (c *Cache) LockNote(id *key.ID) (unlock func()) {
	if c.store == nil || c.store.Refuses() != store.None {
		return func() {}
	}
	name := id.String() + ".note"
	for began, pause := time.Now(), 100*time.Microsecond; ; pause = min(2*pause, 5*time.Millisecond) {
		lock, err := c.store.TryLock(name, nil)
		if lock != nil {
			return lock.Remove
		}
		if err != nil || time.Since(began) > patience {
			return func() {}
		}
		time.Sleep(pause)
	}
}

// patience is a hundred times as long as lists are ever filed for.
const patience = time.Second

// WarnOnce gives a warning to the host, once per process and reason.
func (c *Cache) WarnOnce(reason, text string) { c.log.warn(reason, "%s", text) }
