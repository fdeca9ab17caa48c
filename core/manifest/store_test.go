package manifest

import (
	"os"
	"testing"
	"time"

	"jitcache/core/key"
)

// saved is a cache of one key.
type saved struct {
	data  []byte
	reads int
}

func (c *saved) LoadManifests(*key.ID) []byte          { c.reads++; return c.data }
func (c *saved) SaveManifests(_ *key.Key, data []byte) { c.data = data }

func newStore() *Store { return NewStore(func() *key.Key { return &key.Key{} }) }

func listOf(t *testing.T, path string) *List {
	t.Helper()
	_, f, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	return &List{Files: []File{f}}
}

func TestStoreFindsWhatAnotherProcessHasSaved(t *testing.T) {
	path := t.TempDir() + "/a.h"
	if err := os.WriteFile(path, []byte("1"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := &saved{}
	one, other := newStore(), newStore()
	if found := other.Find(c); found.List != nil || c.reads != 1 {
		t.Fatalf("found %v in nothing, %d reads", found.List, c.reads)
	}
	one.Add(listOf(t, path), c)
	for range 3 {
		if found := other.Find(c); found.List == nil {
			t.Fatal(found.Why)
		}
	}
	if c.reads != 2 { // its own set serves from then on
		t.Errorf("the cache was read %d times", c.reads)
	}
	if found := newStore().Find(nil); found.List != nil {
		t.Error("found something without a cache")
	}
}

func TestStoreSavesNewStamps(t *testing.T) {
	path := t.TempDir() + "/a.h"
	if err := os.WriteFile(path, []byte("1"), 0o600); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-time.Hour)
	os.Chtimes(path, old, old)
	c := &saved{}
	s := newStore()
	s.Add(listOf(t, path), c)
	os.Chtimes(path, old.Add(time.Minute), old.Add(time.Minute))
	before := string(c.data)
	if found := s.Find(c); found.List == nil || !found.Stale || string(c.data) == before {
		t.Errorf("%+v; saved anew: %t", found, string(c.data) != before)
	}
}
