// Trim, clear and verify, and the report of a verify as JSON.

package core

import (
	"context"

	"jitcache/core/store"
)

// Trim counts the directory again, evicts down to the cap, and removes files that dead
// processes have left.
func (c *Cache) Trim(ctx context.Context, progress store.Progress) (store.Cleared, error) {
	if c.store == nil {
		return store.Cleared{}, nil
	}
	c.settle()
	return c.store.Trim(ctx, progress)
}

// Clear removes the entries of a kind, all of them if kind is "".
func (c *Cache) Clear(ctx context.Context, kind string, progress store.Progress) (store.Cleared, error) {
	c.settle()
	switch {
	case c.memory == nil:
	case c.store == nil:
		c.memory.Clear(kind)
	default:
		c.memory.BeginClear(kind)
		defer c.memory.EndClear()
	}
	if c.store == nil {
		return store.Cleared{}, nil
	}
	return c.store.Clear(ctx, kind, progress)
}

// Verify reads every entry and removes the damaged ones, unless keep is set.
func (c *Cache) Verify(ctx context.Context, keep bool, progress store.Progress) (store.Report, error) {
	if c.store == nil {
		return store.Report{}, nil
	}
	c.settle()
	return c.store.Verify(ctx, keep, progress)
}

// Len counts the entries of the directory, or those in memory if there is none.
func (c *Cache) Len() (int, error) {
	if c.store == nil {
		if c.memory == nil {
			return 0, nil
		}
		_, n := c.memory.Size()
		return int(n), nil
	}
	c.settle()
	return c.store.Len()
}

// Report is what `jitcache verify` and jitcache_verify say, as JSON.
type Report struct {
	Entries int   `json:"entries"`
	Bytes   int64 `json:"bytes"`
	Bad     []Bad `json:"bad"`
	Removed int   `json:"removed"`
}

// Bad is a file that is not a good entry.
type Bad struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// NewReport returns a store's report in the form that is printed.
func NewReport(r store.Report) Report {
	out := Report{r.Entries, r.Bytes, make([]Bad, len(r.Bad)), r.Removed}
	for i, b := range r.Bad {
		out.Bad[i] = Bad{b.Path, b.Reason.String()}
	}
	return out
}
