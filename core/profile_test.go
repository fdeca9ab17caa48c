// What a profile remembers of a job.

package core

import (
	"maps"
	"slices"
	"testing"

	"jitcache/core/key"
)

func TestProfileHasWhatRunsUsedOfLateTheLastRunsFirst(t *testing.T) {
	ids := func(n ...byte) (all []key.ID) {
		for _, i := range n {
			all = append(all, key.ID{i})
		}
		return all
	}
	run := func(today uint16, before []byte, used ...byte) (data []byte, news bool) {
		p := profile{known: map[key.ID]uint16{}}
		c := &Cache{profile: &p}
		for _, id := range append(ids(used...), ids(used...)...) {
			c.uses(&id)
		}
		old := profile{known: map[key.ID]uint16{}}
		old.learn(before)
		p.learn(before)
		return p.bytes(today, old.known)
	}
	names := func(data []byte) []key.ID {
		return (&profile{known: map[key.ID]uint16{}}).learn(data)
	}
	first, news := run(100, nil, 3, 1, 2)
	if !news || !slices.Equal(names(first), ids(3, 1, 2)) {
		t.Errorf("first: %v, %v", news, names(first))
	}
	if again, news := run(101, first, 1, 2, 3); news || len(again) != len(first) {
		t.Error("the same is news")
	}
	if _, news := run(100+renewedAfter, first, 1); !news {
		t.Error("what is used for long is not renewed")
	}
	second, news := run(120, first, 9, 1)
	if got := names(second); !news || !slices.Equal(got[:2], ids(9, 1)) || len(got) != 4 {
		t.Errorf("second: %v, %v", news, got)
	}
	third, _ := run(100+forgottenAfter, second, 9)
	if got := names(third); !slices.Equal(got, ids(9, 1)) {
		t.Errorf("what nobody has used for so long is there: %v", got)
	}
	var many []byte
	p := profile{known: map[key.ID]uint16{}}
	c := &Cache{profile: &p}
	for i := range 2 * mostProfiled {
		c.uses(&key.ID{byte(i), byte(i >> 8), 1})
	}
	if many, _ = p.bytes(1, nil); len(names(many)) != mostProfiled {
		t.Errorf("%d keys", len(names(many)))
	}
	for _, bad := range [][]byte{nil, []byte("jcprof"), many[:9], append([]byte("x"), first...)} {
		if got := names(bad); got != nil {
			t.Errorf("%q: %v", bad[:min(len(bad), 20)], got)
		}
	}
	if len(maps.Clone(p.known)) != mostProfiled {
		t.Error("more is remembered than is written")
	}
}
