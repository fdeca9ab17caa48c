// Entries of earlier versions are hits.

package store

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"jitcache/core/key"
)

// goldenEntry is the content of an entry file that tests/golden/make_entries.py has written
// from docs/format.md, with no code in common with this package.
type goldenEntry struct {
	Key, Payload, Kind, Name, Attributes string
	Components                           map[string]string
	Created, Cost                        int64
}

const goldenFolder = "../../tests/golden/entries"

// Entries that an earlier version has stored are hits for ever.
func TestGoldenEntriesAreHits(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(goldenFolder, "index.json"))
	if err != nil {
		t.Fatal(err)
	}
	var index map[string]goldenEntry
	if err := json.Unmarshal(text, &index); err != nil {
		t.Fatal(err)
	}
	if len(index) < 8 {
		t.Fatalf("%d entries, want at least 8", len(index))
	}
	s := open(t)
	for name, want := range index {
		t.Run(name, func(t *testing.T) {
			id, err := key.ParseID(want.Key)
			if err != nil {
				t.Fatal(err)
			}
			placeGolden(t, s, name, want.Key)
			b, why := s.Get(&id)
			if why != None {
				t.Fatalf("miss: %v", why)
			}
			defer b.Release()
			if got := fmt.Sprintf("%x", b.Data()); got != want.Payload {
				t.Errorf("payload %s, want %s", got, want.Payload)
			}
			if b.Kind() != want.Kind || b.Name() != want.Name || b.Attributes() != want.Attributes {
				t.Errorf("kind %q, name %q, attributes %q", b.Kind(), b.Name(), b.Attributes())
			}
			if created, cost := b.Created(); created != want.Created || cost != want.Cost {
				t.Errorf("created %d, cost %d, want %d and %d", created, cost, want.Created, want.Cost)
			}
			checkGoldenListing(t, s, &id, &want)
		})
	}
	if r, err := s.Verify(context.Background(), true, nil); err != nil || len(r.Bad) != 0 || r.Entries != len(index) {
		t.Errorf("verify: %+v, %v", r, err)
	}
}

// placeGolden copies a golden file to the place of its key.
func placeGolden(t *testing.T, s *Store, name, digits string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(goldenFolder, name+".jce"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(s.Root(), "v1", "entries", digits[:2], digits[2:]+".jce")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// checkGoldenListing checks what is known of the entry without its payload.
func checkGoldenListing(t *testing.T, s *Store, id *key.ID, want *goldenEntry) {
	t.Helper()
	e, why := s.Stat(id)
	if why != None {
		t.Fatalf("stat: %v", why)
	}
	components := map[string]string{}
	for _, p := range e.Parts {
		components[p.Label] = fmt.Sprintf("%x", p.Short)
	}
	if !maps.Equal(components, want.Components) || len(e.Parts) != len(want.Components) {
		t.Errorf("components %v, want %v", components, want.Components)
	}
	if e.ID != *id || e.Kind != want.Kind || e.Name != want.Name || e.Attributes != want.Attributes ||
		e.Created != want.Created || e.Cost != want.Cost || e.Payload != int64(len(want.Payload)/2) {
		t.Errorf("listed as %+v", e)
	}
}
