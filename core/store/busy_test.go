// Evictions beside a ledger that somebody else holds.

package store

import "testing"

// Two processes evict the same entries, one of them while the other has the ledger's lock.
// The freed bytes must be subtracted once; if they are subtracted twice, the directory
// grows beyond its cap by as much.
func TestWhatWasEvictedBesideABusyLedgerIsTakenOffOnce(t *testing.T) {
	one := fileSize(t, 100)
	a := open(t, size(400*one))
	b := open(t, dir(a.Root()))
	n := 0
	puts := func(s *Store, count int) {
		for range count {
			put(t, s, testKey(t, n), payload(n, 100))
			n++
		}
	}
	puts(a, 400)
	a.Flush()
	for range 20 {
		lock, err := a.lockLedger()
		if lock == nil {
			t.Fatal(err)
		}
		puts(b, 40) // frees what it adds, and cannot tell
		lock.Unlock()
		puts(a, 40) // looks at the same shards
	}
	a.Flush()
	b.Flush()
	there := int64(len(present(t, a, n)))
	u := open(t, dir(a.Root())).Usage()
	if u.Entries < there || u.Bytes < there*one {
		t.Errorf("the ledger says %d entries, there are %d", u.Entries, there)
	}
	if there > 400 {
		t.Errorf("%d entries, cap 400", there)
	}
}
