// Sets of lists go with the sets that lead to them.

package bundle

import (
	"bytes"
	"fmt"
	"os"
	"testing"

	"jitcache/core"
	"jitcache/core/key"
	"jitcache/record"
)

// Lists of a request with many states are in sets below each other. A bundle of some results has the sets that lead
// to them; one of the request has all.
//
//jitcache:control nosetways
func TestSetsGoWithThoseThatLeadToThem(t *testing.T) {
	const n = 3 * record.MaxLists
	request, folder := noteKey(t, "request"), t.TempDir()
	path := folder + "/k.c"
	state := func(i int) {
		if err := os.WriteFile(path, []byte(fmt.Sprint(i)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	now := func(c *core.Cache) *record.Surroundings { return &record.Surroundings{Dir: folder, Notes: c} }
	c := warmed(t, n)
	for i := range n {
		state(i)
		id := testKey(t, i).ID
		text := []byte(fmt.Sprint(i))
		file := record.File{Path: "k.c", Mode: 0o100600, Stamp: record.Stamp{Size: uint64(len(text))}, Digest: key.Sum(text)}
		record.NewSetStore(request).Add(&record.List{Files: []record.File{file}, Payload: id[:]}, now(c))
	}
	for wanted, found := range map[string][]int{"entry 3": {3}, request.ID.String(): {0, 3, n - 1}} {
		ids, err := Choose(t.Context(), c, Wanted{Words: []string{wanted}})
		if err != nil {
			t.Fatal(err)
		}
		own := open(t, t.TempDir()+"/own", nil)
		if sum, err := Add(own, bytes.NewReader(packed(t, c, wanted)), AddOptions{Bounds: Usual, Unsigned: true}); err != nil || sum.New != len(ids) {
			t.Fatalf("%q: %+v, %v", wanted, sum, err)
		}
		for _, i := range found {
			state(i)
			id := testKey(t, i).ID
			got := record.NewSetStore(request).Find(now(own))
			if got.List == nil || !bytes.Equal(got.List.Payload, id[:]) {
				t.Errorf("%q: state %d is not found: %s", wanted, i, got.Why)
			}
			if b, why := own.Peek(&id); b == nil {
				t.Errorf("%q: result %d: %v", wanted, i, why)
			} else {
				b.Release()
			}
		}
	}
}
