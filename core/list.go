// The entries of the directory as `jitcache ls` and jitcache_cursor_next list them.

package core

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"jitcache/core/key"
	"jitcache/core/store"
)

// NoteKind is the kind of the cache's own entries, see [key.NoteKind].
const NoteKind = key.NoteKind

// Listed is what is known of an entry without its payload, as `jitcache ls -json` and
// jitcache_cursor_next print it.
type Listed struct {
	Key        string            `json:"key"`
	Kind       string            `json:"kind"`
	Name       string            `json:"name"`
	Size       int64             `json:"size"`
	File       int64             `json:"file_size"`
	Created    time.Time         `json:"created"`
	Used       time.Time         `json:"used"`
	Compile    float64           `json:"compile_seconds"`
	Owner      uint32            `json:"owner"`
	Path       string            `json:"path"`
	Components map[string]string `json:"components,omitempty"`
	Attributes json.RawMessage   `json:"attributes,omitempty"`
}

// NewListed returns an entry in the form that is printed, without components.
func NewListed(e *store.Entry) Listed {
	l := Listed{
		Key: e.ID.String(), Kind: e.Kind, Name: e.Name, Size: e.Payload, File: e.Size,
		Created: time.Unix(0, e.Created), Used: time.Unix(0, e.Used), Compile: float64(e.Cost) / 1e9,
		Owner: e.UID, Path: e.Path,
	}
	// Other programs write entries too, and text that is not JSON would damage the output.
	if json.Valid([]byte(e.Attributes)) {
		l.Attributes = json.RawMessage(e.Attributes)
	}
	return l
}

// Components returns the short digests of a key's components by their labels.
func Components(parts []key.Part) map[string]string {
	m := make(map[string]string, len(parts))
	for _, p := range parts {
		m[p.Label] = fmt.Sprintf("%x", p.Short)
	}
	return m
}

// List calls fn for the entries of a kind in the directory, or for all if kind is "",
// in the order of their keys. It does not list entries that are only in memory. It
// takes no more memory for a million than for one, as long as fn does not keep them.
func (c *Cache) List(ctx context.Context, kind string, fn func(*Listed) error) error {
	if c.store == nil {
		return nil
	}
	c.settle()
	return c.store.Walk(ctx, func(e *store.Entry) error {
		if kind != "" && e.Kind != kind {
			return nil
		}
		l := NewListed(e)
		return fn(&l)
	})
}

// Keys returns the keys of one part of the directory; false if there is no such part.
// Keys and Describe are List for callers that cannot be called back.
func (c *Cache) Keys(part int) ([]key.ID, bool) {
	if c.store == nil {
		return nil, false
	}
	c.settle()
	return c.store.Keys(part)
}

// Describe returns what is known of the entry of a key; false if it cannot be read, or
// is not of that kind.
func (c *Cache) Describe(id *key.ID, kind string) (Listed, bool) {
	if c.store == nil {
		return Listed{}, false
	}
	c.settleEntry(id)
	e, why := c.store.Describe(id)
	if why != store.None || kind != "" && e.Kind != kind {
		return Listed{}, false
	}
	return NewListed(e), true
}
