package core

import (
	"encoding/json"
	"errors"

	"jitcache/core/blob"
	"jitcache/core/key"
	"jitcache/core/store"
)

// ErrAttributes is returned for attributes that are no JSON object.
var ErrAttributes = errors.New("attributes: want a JSON object")

// CheckAttributes returns an error unless s is "" or a JSON object.
func CheckAttributes(s string) error {
	if s == "" {
		return nil
	}
	for i := range s {
		switch s[i] {
		case ' ', '\t', '\r', '\n':
			continue
		case '{':
			if json.Valid([]byte(s)) {
				return nil
			}
		}
		break
	}
	return ErrAttributes
}

// Put stores a result. It returns None if the entry is there afterwards, else
// why it is not. attributes must have passed CheckAttributes.
func (c *Cache) Put(k *key.Key, payload []byte, attributes string, replace bool) store.Reason {
	b, why := c.put(store.Item{Key: k, Payload: payload, Attributes: attributes, Replace: replace}, false)
	if b != nil {
		b.Release()
	}
	return why
}

// put stores an item on disk and in memory. With want it returns the bytes as a
// blob whatever came of it, as far as there is memory for them.
func (c *Cache) put(it store.Item, want bool) (*blob.Blob, store.Reason) {
	if c.settings.mode == ModeRefresh {
		it.Replace = true
	}
	w, why := c.write(it)
	kind := []byte(it.Key.Kind)
	switch {
	case why == store.None:
		c.count(kind, store.Puts, 1)
	case c.store != nil:
		c.store.CountRefused(kind, why)
	default:
		c.count(kind, store.PutsRefused, 1)
		c.count(kind, store.RefusedCounter(why), 1)
	}
	c.logPut(it, why)
	// Bytes that the key does not stand for must not be given out under it, not
	// even by this process; nor bytes other than those on disk.
	keep := c.memory != nil && why != store.InputChange && (why != store.None || w.Created != 0)
	if !want && !keep {
		return nil, why
	}
	b, err := store.NewBlob(it, w)
	if err != nil {
		return nil, why
	}
	if keep {
		c.memory.Put(b)
	}
	if !want {
		b.Release()
		b = nil
	}
	return b, why
}

func (c *Cache) write(it store.Item) (store.Written, store.Reason) {
	if c.settings.mode == ModeOff {
		return store.Written{}, store.Off
	}
	if c.store == nil {
		if in := c.changedInput(it.Key); in != "" {
			return store.Written{}, store.InputChange
		}
		return store.Written{}, store.NoDirectory
	}
	return c.store.Put(it)
}

func (c *Cache) changedInput(k *key.Key) string {
	for i := range k.Inputs {
		if reason, changed := k.Inputs[i].Changed(); changed {
			return reason
		}
	}
	return ""
}

func (c *Cache) logPut(it store.Item, why store.Reason) {
	what := label(it.Key.Name, it.Key.ID)
	switch why {
	case store.None:
		c.log.line(Debug, "stored %s, %d bytes", what, len(it.Payload))
	case store.InputChange:
		c.log.line(Info, "not stored: %s: %s", what, c.changedInput(it.Key))
	case store.Off, store.ReadOnly, store.NoDirectory:
		c.log.line(Debug, "not stored: %s: %v", what, why)
	default:
		c.log.warn("put "+why.String(), "not stored: %s: %v", what, why)
	}
}

// Remove removes an entry everywhere. It reports whether there was one.
func (c *Cache) Remove(id *key.ID) (bool, store.Reason) {
	found := c.memory != nil && c.memory.Remove((*[32]byte)(id))
	if c.store == nil {
		return found, store.None
	}
	on, why := c.store.Remove(id)
	if on {
		c.store.Count([]byte(key.DefaultKind), store.Removals, 1)
	}
	return found || on, why
}
