// Put and remove: what changes the entry of a key on disk and in memory.

package core

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"jitcache/core/blob"
	"jitcache/core/key"
	"jitcache/core/store"
)

// ErrAttributes is returned for attributes that are not a JSON object.
var ErrAttributes = errors.New("attributes: want a JSON object")

// CheckAttributes returns an error unless s is "" or a JSON object.
func CheckAttributes(s string) error {
	if s == "" || strings.HasPrefix(strings.TrimLeft(s, " \t\r\n"), "{") && json.Valid([]byte(s)) {
		return nil
	}
	return ErrAttributes
}

// Put stores a result. It returns None if the entry is there afterwards, else why it
// is not. attributes must have passed CheckAttributes.
func (c *Cache) Put(k *key.Key, payload []byte, attributes string, replace bool) store.Reason {
	_, why := c.putItem(store.Item{Key: k, Payload: payload, Attributes: attributes, Replace: replace}, false)
	return why
}

// PutCompiled is Put for a result that was compiled without a lease on its key. It is
// counted as a compile that took as long; every hit on it saves that time.
func (c *Cache) PutCompiled(k *key.Key, payload []byte, attributes string, replace bool, took time.Duration) store.Reason {
	c.countCompile(k, took)
	_, why := c.putItem(store.Item{Key: k, Payload: payload, Attributes: attributes, Replace: replace, Cost: int64(took)}, false)
	return why
}

// putItem stores an item on disk and in memory. With want it returns the bytes as a
// blob, stored or not, if there is memory for them.
func (c *Cache) putItem(it store.Item, want bool) (b *blob.Blob, why store.Reason) {
	if c.settings.mode == ModeRefresh {
		it.Replace = true
	}
	c.settleEntry(&it.Key.ID)
	stored := false
	c.changeEntry(&it.Key.ID, it.Replace, func() (changed bool, keep *blob.Blob) {
		var w store.Written
		w, why = c.writeItem(it)
		changed = why == store.None && w.Created != 0
		stored = changed
		kept := c.memory != nil && (changed || c.keepsUnstored(&it.Key.ID, why))
		if want || kept {
			b, _ = store.NewBlob(it, w)
		}
		if kept {
			keep = b
		}
		return changed, keep
	})
	kind := []byte(it.Key.Kind)
	if stored {
		c.uses(&it.Key.ID)
		c.offer(&it.Key.ID)
	}
	switch {
	case why == store.None:
		c.addToCounter(kind, store.Puts, 1)
	case c.store != nil:
		c.store.CountRefused(kind, why)
	default:
		c.addToCounter(kind, store.PutsRefused, 1)
		c.addToCounter(kind, store.RefusedCounter(why), 1)
	}
	c.logPut(it, why)
	if !want && b != nil {
		b.Release()
		b = nil
	}
	return b, why
}

// keepsUnstored reports whether memory may keep a result that was not stored. Not even
// in this process may a lookup return bytes that the key does not stand for, or bytes
// other than those on disk.
func (c *Cache) keepsUnstored(id *key.ID, why store.Reason) bool {
	if why == store.None || why == store.InputChange || c.store != nil && c.store.Has(id) {
		return false
	}
	return !slices.ContainsFunc(c.used, func(l *Layer) bool {
		b, _ := c.fromLayer(l, id, -1)
		if b != nil {
			b.Release()
		}
		return b != nil
	})
}

func (c *Cache) logPut(it store.Item, why store.Reason) {
	if why == store.None && !c.log.wants(Debug) {
		return // the usual case: no text is made
	}
	what := label(it.Key.Name, it.Key.ID)
	switch why {
	case store.None:
		c.log.line(Debug, "stored %s, %d bytes", what, len(it.Payload))
	case store.InputChange:
		in := c.changedInput(it.Key)
		c.noteRefusal(it.Key.Name, why, in)
		c.log.line(Info, "not stored: %s: %s", what, in)
	case store.Off, store.ReadOnly, store.NoDirectory:
		c.log.line(Debug, "not stored: %s: %v", what, why)
	default:
		c.log.warn("put "+why.String(), "not stored: %s: %v", what, why)
	}
}

// Detached returns bytes as a blob that is in no cache, in the form that Lease.Commit
// returns. Its kind and name are those of k. The caller owns it.
func Detached(k *key.Key, payload []byte, attributes string) (*blob.Blob, error) {
	return store.NewBlob(store.Item{Key: k, Payload: payload, Attributes: attributes}, store.Written{})
}

// Remove removes an entry from memory and from the directory. It reports whether there
// was one.
func (c *Cache) Remove(id *key.ID) (found bool, why store.Reason) {
	if c.store == nil {
		return c.memory != nil && c.memory.Remove((*[32]byte)(id)), store.None
	}
	c.settleEntry(id)
	kept := c.changeEntry(id, true, func() (bool, *blob.Blob) {
		found, why = c.store.Remove(id)
		return found, nil
	})
	return found || kept, why
}
