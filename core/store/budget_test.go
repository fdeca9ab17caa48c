// How much one put evicts.

package store

import (
	"context"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// onDisk adds up the entries of a directory, as the file system has them.
func onDisk(t *testing.T, s *Store) (entries int, bytes int64) {
	t.Helper()
	err := filepath.WalkDir(s.v1+"/entries", func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, entrySuffix) {
			info, err := d.Info()
			if err != nil {
				return err
			}
			entries, bytes = entries+1, bytes+info.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return entries, bytes
}

// overCap returns a store whose cap was set to a share of its size.
func overCap(t *testing.T, n, share int) *Store {
	t.Helper()
	s := quickStore(t, false)
	for i := range n {
		put(t, s, testKey(t, i), payload(i, 64))
	}
	s.Flush()
	_, bytes := onDisk(t, s)
	return open(t, dir(s.Root()), size(bytes/int64(share)))
}

func many(t *testing.T) int {
	if testing.Short() {
		return 6000
	}
	return 20000
}

//jitcache:control evictall
func TestPutAfterTheCapWasLoweredEvictsForAWhileAndNotAll(t *testing.T) {
	n := many(t)
	s := overCap(t, n, 20)
	before, _ := onDisk(t, s)
	put(t, s, testKey(t, n), payload(n, 64))
	after, _ := onDisk(t, s)
	if after < before/2 || after >= before {
		t.Errorf("one put: %d entries, %d before", after, before)
	}
	puts := 1
	for ; puts < n; puts++ {
		last := after
		put(t, s, testKey(t, n+puts), payload(n+puts, 64))
		var bytes int64
		if after, bytes = onDisk(t, s); bytes <= s.MaxSize() {
			break
		}
		if after >= last {
			t.Fatalf("put %d beyond the cap: %d entries, %d before", puts, after, last)
		}
	}
	if puts == n {
		t.Fatal("it never comes down to the cap")
	}
	for i := range 100 {
		put(t, s, testKey(t, 3*n+i), payload(i, 64))
		if _, bytes := onDisk(t, s); bytes > s.MaxSize() {
			t.Fatalf("%d bytes, cap %d", bytes, s.MaxSize())
		}
	}
}

//jitcache:control evictall
func TestPutDoesNotGoThroughAllThatCannotBeRemoved(t *testing.T) {
	n := many(t)
	s := overCap(t, n, 20)
	tried := 0
	setFault(t, func(op Op, _ string) (syscall.Errno, int) {
		if op != OpUnlink {
			return 0, -1
		}
		tried++
		time.Sleep(20 * time.Microsecond) // a slow disk
		return syscall.EPERM, -1
	})
	put(t, s, testKey(t, n), payload(n, 64))
	if tried == 0 || tried > n/2 {
		t.Errorf("%d of %d tried", tried, n)
	}
}

//jitcache:control evictall
func TestLookupsEvictNothing(t *testing.T) {
	n := many(t) / 2
	s := overCap(t, n, 10)
	s.pending.written = 0 // the counters are due
	for i := range 100 {
		get(t, s, testKey(t, i))
		s.CountHit(HitsDisk, []byte("generic"), 1)
	}
	s.FlushIfDue()
	if entries, _ := onDisk(t, s); entries != n {
		t.Errorf("%d entries of %d are left", entries, n)
	}
}

// However many small entries it takes, a put makes room for itself.
func TestLargePutIntoAFullCacheKeepsTheCap(t *testing.T) {
	n := many(t) / 4
	s := overCap(t, n, 1)
	limit := s.MaxSize()
	for i := range 4 {
		put(t, s, testKey(t, n+i), payload(i, int(limit/3)))
		if _, bytes := onDisk(t, s); bytes > limit {
			t.Errorf("put %d of %d bytes: %d bytes, cap %d", i, limit/3, bytes, limit)
		}
	}
}

func TestTrimEvictsAllAndTellsHowFarItIs(t *testing.T) {
	s := overCap(t, many(t)/4, 10)
	var last float64
	done, err := s.Trim(context.Background(), func(share float64, entries int) {
		if share < last || share > 1 {
			t.Errorf("%v after %v", share, last)
		}
		last = share
	})
	entries, bytes := onDisk(t, s)
	if err != nil || bytes > s.MaxSize() || done.Entries+entries != many(t)/4 {
		t.Errorf("%v: evicted %d, left %d of %d bytes, cap %d", err, done.Entries, entries, bytes, s.MaxSize())
	}
	if last != 1 {
		t.Errorf("the last that it told is %v", last)
	}
	if u := s.Usage(); u.Bytes != bytes || u.Entries != int64(entries) {
		t.Errorf("the ledger says %d bytes in %d entries, there are %d in %d", u.Bytes, u.Entries, bytes, entries)
	}
}

func TestTrimEndsWhenItIsToldTo(t *testing.T) {
	n := many(t)
	s := overCap(t, n, 20)
	ctx, cancel := context.WithCancel(context.Background())
	setFault(t, func(op Op, _ string) (syscall.Errno, int) {
		if op == OpUnlink {
			time.Sleep(20 * time.Microsecond) // a slow disk
		}
		return 0, -1
	})
	_, err := s.Trim(ctx, func(share float64, _ int) {
		if share > 0.5 {
			cancel()
		}
	})
	Fault = nil
	entries, bytes := onDisk(t, s)
	if err == nil || bytes <= s.MaxSize() {
		t.Errorf("%v: %d of %d entries left", err, entries, n)
	}
	if u := s.Usage(); u.Bytes != bytes || u.Entries != int64(entries) {
		t.Errorf("the ledger says %d bytes in %d entries, there are %d in %d", u.Bytes, u.Entries, bytes, entries)
	}
}
