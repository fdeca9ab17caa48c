package manifest

import (
	"os"
	"testing"
	"time"

	"jitcache/core/key"
)

// noted are notes of one key.
type noted struct {
	data  []byte
	reads int
}

func (n *noted) Recall(*key.ID) []byte        { n.reads++; return n.data }
func (n *noted) Note(_ *key.Key, data []byte) { n.data = data }

func newShelf() *Shelf { return NewShelf(func() *key.Key { return &key.Key{} }) }

func listOf(t *testing.T, path string) *List {
	t.Helper()
	_, f, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	return &List{Files: []File{f}}
}

func TestShelfFindsWhatAnotherProcessHasNoted(t *testing.T) {
	path := t.TempDir() + "/a.h"
	if err := os.WriteFile(path, []byte("1"), 0o600); err != nil {
		t.Fatal(err)
	}
	n := &noted{}
	one, other := newShelf(), newShelf()
	if found := other.Find(n); found.List != nil || n.reads != 1 {
		t.Fatalf("found %v in nothing, %d reads", found.List, n.reads)
	}
	one.Add(listOf(t, path), n)
	for range 3 {
		if found := other.Find(n); found.List == nil {
			t.Fatal(found.Why)
		}
	}
	if n.reads != 2 { // its own book serves from then on
		t.Errorf("the notes were read %d times", n.reads)
	}
	if found := newShelf().Find(nil); found.List != nil {
		t.Error("found something without notes")
	}
}

func TestShelfNotesNewStamps(t *testing.T) {
	path := t.TempDir() + "/a.h"
	if err := os.WriteFile(path, []byte("1"), 0o600); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-time.Hour)
	os.Chtimes(path, old, old)
	n := &noted{}
	s := newShelf()
	s.Add(listOf(t, path), n)
	os.Chtimes(path, old.Add(time.Minute), old.Add(time.Minute))
	before := string(n.data)
	if found := s.Find(n); found.List == nil || !found.Stale || string(n.data) == before {
		t.Errorf("%+v; noted anew: %t", found, string(n.data) != before)
	}
}
