package core

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"jitcache/core/key"
	"jitcache/core/store"
)

// Listed is what is known of an entry without reading its payload, as `jitcache
// ls -json` and jitcache_list print it.
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
	// Other programs write entries too, and a text that is no JSON would spoil the list.
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

// List returns the entries of a kind in the directory, all of them if kind is "",
// last used first. What is in memory only is not among them.
func (c *Cache) List(ctx context.Context, kind string) ([]Listed, error) {
	list := []Listed{}
	if c.store == nil {
		return list, nil
	}
	err := c.store.Walk(ctx, func(e *store.Entry) error {
		if kind == "" || e.Kind == kind {
			list = append(list, NewListed(e))
		}
		return nil
	})
	slices.SortStableFunc(list, func(a, b Listed) int { return cmp.Or(b.Used.Compare(a.Used), cmp.Compare(a.Key, b.Key)) })
	return list, err
}
