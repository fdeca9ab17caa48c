// Which files are listed as entries.

package store

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"jitcache/core/key"
)

func TestWalkAndMatchFindEntries(t *testing.T) {
	s := open(t)
	for i := range 20 {
		put(t, s, testKey(t, i), payload(i, i))
	}
	seen := map[key.ID]*Entry{}
	var last key.ID
	err := s.Walk(context.Background(), func(e *Entry) error {
		if bytes.Compare(last[:], e.ID[:]) >= 0 {
			t.Errorf("%v after %v", e.ID, last)
		}
		last = e.ID
		seen[e.ID] = e
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		k := testKey(t, i)
		e := seen[k.ID]
		if e == nil || e.Name != k.Name || e.Payload != int64(i) || len(e.Parts) != 1 || e.Parts[0] != k.Parts[0] || e.Path != s.fileOf(k) {
			t.Errorf("entry %d: %+v", i, e)
		}
		for _, n := range []int{64, 12} {
			if ids, err := s.Match(k.ID.String()[:n]); err != nil || len(ids) != 1 || ids[0] != k.ID {
				t.Errorf("%d digits of entry %d match %v, %v", n, i, ids, err)
			}
		}
	}
	for _, bad := range []string{"", "a", "xyz", "ABC"} {
		if _, err := s.Match(bad); err == nil {
			t.Errorf("%q matches", bad)
		}
	}
}

func TestWhatIsNoGoodEntryIsNotListed(t *testing.T) {
	s := open(t)
	k := testKey(t, 1)
	put(t, s, k, payload(1, 10))
	foreign, link, folder, short := testKey(t, 2), testKey(t, 3), testKey(t, 4), testKey(t, 5)
	for _, other := range []*key.Key{foreign, link, folder, short} {
		os.MkdirAll(filepath.Dir(s.fileOf(other)), 0o700)
	}
	os.Link(s.fileOf(k), s.fileOf(foreign))
	os.Symlink(s.fileOf(k), s.fileOf(link))
	os.Mkdir(s.fileOf(folder), 0o700)
	os.WriteFile(s.fileOf(short), []byte("short"), 0o600)
	n := 0
	s.Walk(context.Background(), func(e *Entry) error {
		n++
		if e.ID != k.ID {
			t.Errorf("%v is listed", e.Path)
		}
		return nil
	})
	if n != 1 {
		t.Errorf("%d are listed", n)
	}
}
