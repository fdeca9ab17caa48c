// A batch is a row of puts, whatever becomes of its folders.

package store

import (
	"os"
	"path/filepath"
	"sort"
	"syscall"
	"testing"

	"jitcache/core/key"
)

// brought puts n entries into a store and returns their keys in order, as they are in a
// bundle.
func brought(t *testing.T, s *Store, n int) (ids []key.ID) {
	t.Helper()
	for i := range n {
		k := testKey(t, i)
		put(t, s, k, payload(i, 100))
		ids = append(ids, k.ID)
	}
	sort.Slice(ids, func(i, j int) bool { return ids[i].String() < ids[j].String() })
	return ids
}

func copyTo(t *testing.T, b *Batch, from *Store, id *key.ID) Written {
	t.Helper()
	e, why := from.Get(id)
	if why != None {
		t.Fatal(why)
	}
	defer e.Release()
	w, why := b.Copy(e, nil)
	if why != None {
		t.Fatal(why)
	}
	return w
}

func TestBatchIsARowOfPuts(t *testing.T) {
	from, to := open(t), open(t)
	ids := brought(t, from, 300)
	b := to.Batch()
	for i := range ids {
		if !b.Lacks(&ids[i]) {
			t.Errorf("%v is there before it is put", ids[i])
		}
		copyTo(t, &b, from, &ids[i])
		if b.Lacks(&ids[i]) {
			t.Errorf("%v is not there", ids[i])
		}
		if w := copyTo(t, &b, from, &ids[i]); w.Created != 0 {
			t.Errorf("%v was written again", ids[i])
		}
	}
	b.Close()
	for i := range ids {
		if !to.Has(&ids[i]) {
			t.Errorf("no %v", ids[i])
		}
	}
	if a, b := from.Usage(), to.Usage(); a.Entries != b.Entries || a.Bytes != b.Bytes {
		t.Errorf("%d entries of %d bytes; want %d of %d", b.Entries, b.Bytes, a.Entries, a.Bytes)
	}
}

func TestFolderThatIsRemovedDuringABatchIsMadeAgain(t *testing.T) {
	from := open(t)
	ids := brought(t, from, 600)
	for _, gone := range []string{"v1/tmp", "v1/entries", "v1", ""} {
		to := open(t)
		b := to.Batch()
		for i := range ids {
			if i == 300 {
				if err := os.RemoveAll(filepath.Join(to.Root(), gone)); err != nil {
					t.Fatal(err)
				}
			}
			copyTo(t, &b, from, &ids[i])
		}
		b.Close()
		for i := range ids[300:] {
			if !to.Has(&ids[300+i]) {
				t.Errorf("without %q: no %v", gone, ids[300+i])
			}
		}
	}
}

// Each file is flushed before it gets its name. Each folder is flushed before the batch goes
// on to another, and at the end.
func TestDurableBatchFlushesEachFileAndEachShardOnce(t *testing.T) {
	from := open(t)
	ids := brought(t, from, 300)
	to := open(t, func(o *Options) { o.Durable = true })
	used := map[byte]bool{}
	for i := range ids {
		used[ids[i][0]] = true
	}
	count := 0
	setFault(t, func(op Op, _ string) (syscall.Errno, int) {
		if op == OpSync {
			count++
		}
		return 0, -1
	})
	b := to.Batch()
	for i := range ids {
		copyTo(t, &b, from, &ids[i])
	}
	b.Close()
	if want := len(ids) + len(used); count != want {
		t.Errorf("%d times; want %d, for %d entries in %d shards", count, want, len(ids), len(used))
	}
}
