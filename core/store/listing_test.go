package store

import (
	"context"
	"testing"

	"jitcache/core/key"
)

func TestWalkAndMatchFindEntries(t *testing.T) {
	s := open(t)
	for i := range 20 {
		put(t, s, testKey(t, i), payload(i, i))
	}
	seen := map[key.ID]*Entry{}
	if err := s.Walk(context.Background(), func(e *Entry) error { seen[e.ID] = e; return nil }); err != nil {
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
