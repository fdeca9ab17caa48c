// Verify, clear and trim.

package store

import (
	"context"
	"maps"
	"os"
	"testing"
)

func TestTrimCountsAnewAndEvicts(t *testing.T) {
	one := fileSize(t, 100)
	s := open(t)
	for i := range 50 {
		put(t, s, testKey(t, i), payload(i, 100))
	}
	s.Flush()
	s = open(t, dir(s.Root()), size(20*one))
	os.Remove(s.v1 + "/ledger")
	done, err := s.Trim(context.Background(), nil)
	if err != nil || done.Entries != 30 || done.Bytes != 30*one {
		t.Errorf("%+v, %v", done, err)
	}
	if got := present(t, s, 50); len(got) != 20 || got[0] != 30 {
		t.Errorf("left: %v", got)
	}
	if u := open(t, dir(s.Root())).Usage(); u.Entries != 20 || u.Bytes != 20*one {
		t.Errorf("ledger: %d bytes in %d entries", u.Bytes, u.Entries)
	}
}

func TestClearByKind(t *testing.T) {
	s := open(t)
	for i := range 30 {
		k := testKey(t, i)
		k.Kind = []string{"cubin", "native", "numba"}[i%3]
		put(t, s, k, payload(i, 100))
	}
	done, err := s.Clear(context.Background(), "native", nil)
	if err != nil || done.Entries != 10 {
		t.Errorf("%+v, %v", done, err)
	}
	for i := range 30 {
		if _, why := get(t, s, testKey(t, i)); (why == None) == (i%3 == 1) {
			t.Errorf("entry %d: %v", i, why)
		}
	}
	if done, err := s.Clear(context.Background(), "", nil); err != nil || done.Entries != 20 {
		t.Errorf("%+v, %v", done, err)
	}
	if n, err := s.Len(); n != 0 || err != nil {
		t.Errorf("%d entries left, %v", n, err)
	}
	if s.LastNamed(testKey(t, 1).Name) != nil {
		t.Error("names are left")
	}
}

func TestRemovalsAreThoseOfTheirKinds(t *testing.T) {
	s := open(t)
	for i := range 60 {
		k := testKey(t, i)
		k.Kind = []string{"cubin", "native", "numba"}[i%3]
		put(t, s, k, payload(i, 100))
	}
	s.Remove(&testKey(t, 0).ID)
	s.Remove(&testKey(t, 0).ID)
	s.Remove(&testKey(t, 2).ID)
	os.Truncate(s.fileOf(testKey(t, 5)), 50) // whose kind nobody knows
	for _, step := range []struct {
		clear string
		want  map[string]uint64
	}{
		{"native", map[string]uint64{"cubin": 1, "native": 20, "numba": 1}},
		{"generic", map[string]uint64{"cubin": 1, "native": 20, "numba": 1}},
		{"", map[string]uint64{"cubin": 20, "native": 20, "numba": 19, "generic": 1}},
	} {
		if _, err := s.Clear(context.Background(), step.clear, nil); err != nil {
			t.Fatal(err)
		}
		s.Flush()
		got := map[string]uint64{}
		for kind, c := range open(t, dir(s.Root())).Usage().Kinds {
			if c[Removals] > 0 {
				got[kind] = c[Removals]
			}
		}
		if !maps.Equal(got, step.want) {
			t.Errorf("clear %q: %v, want %v", step.clear, got, step.want)
		}
	}
}

func TestPassEndsWhenItIsToldTo(t *testing.T) {
	s := open(t)
	put(t, s, testKey(t, 0), []byte("x"))
	ctx, cancel := context.WithCancel(context.Background())
	seen := 0
	_, err := s.Verify(ctx, false, func(share float64, entries int) {
		if seen++; seen == 10 {
			cancel()
		}
	})
	if err == nil || seen != 10 {
		t.Errorf("went on to shard %d, %v", seen, err)
	}
}

func TestVerifyRemovesWhatIsDamaged(t *testing.T) {
	s := open(t)
	for i := range 10 {
		put(t, s, testKey(t, i), payload(i, 1000))
	}
	os.Truncate(s.fileOf(testKey(t, 3)), 500)
	os.Chmod(s.fileOf(testKey(t, 4)), 0o666)
	r, err := s.Verify(context.Background(), true, nil)
	if err != nil || r.Entries != 10 || len(r.Bad) != 2 || r.Removed != 0 {
		t.Errorf("keeping: %+v, %v", r, err)
	}
	r, err = s.Verify(context.Background(), false, nil)
	if err != nil || len(r.Bad) != 2 || r.Removed != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := os.Stat(s.fileOf(testKey(t, 3))); err == nil {
		t.Error("the truncated entry is still there")
	}
	if _, err := os.Stat(s.fileOf(testKey(t, 4))); err != nil {
		t.Error("the entry that others may write was removed; it may be somebody's")
	}
	if u := open(t, dir(s.Root())).Usage(); u.Entries != 9 {
		t.Errorf("the ledger says %d entries", u.Entries)
	}
}
