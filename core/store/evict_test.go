package store

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"jitcache/core/key"
	"jitcache/core/lockfile"
)

// present returns which of the first n test keys have an entry.
func present(t *testing.T, s *Store, n int) (there []int) {
	t.Helper()
	for i := range n {
		if _, err := os.Stat(s.fileOf(testKey(t, i))); err == nil {
			there = append(there, i)
		}
	}
	return there
}

// fileSize is the size of an entry file of a test key with a payload of n bytes.
func fileSize(t *testing.T, n int) int64 {
	k := testKey(t, 0)
	return int64(len(entryFile(t, k, make([]byte, n), "")))
}

func TestTinyCapKeepsTheLastUsed(t *testing.T) {
	s := open(t, size(5000))
	put(t, s, testKey(t, 0), payload(0, 1800))
	put(t, s, testKey(t, 1), payload(1, 1800))
	get(t, s, testKey(t, 0))
	put(t, s, testKey(t, 2), payload(2, 1800))
	if got := fmt.Sprint(present(t, s, 3)); got != "[0 2]" {
		t.Errorf("entries %s, want [0 2]", got)
	}
	put(t, s, testKey(t, 3), payload(3, 1800))
	if got := fmt.Sprint(present(t, s, 4)); got != "[2 3]" {
		t.Errorf("entries %s, want [2 3]", got)
	}
}

func TestSmallDirectoryIsEvictedInExactOrder(t *testing.T) {
	one := fileSize(t, 100)
	s := open(t, size(20*one+one/2))
	for i := range 100 {
		put(t, s, testKey(t, i), payload(i, 100))
		there := present(t, s, i+1)
		if want := min(i+1, 20); len(there) != want || there[0] != i+1-want {
			t.Fatalf("after put %d: %v", i, there)
		}
	}
}

func TestEntryJustWrittenGoesLast(t *testing.T) {
	s := open(t, size(3000))
	future := time.Now().Add(time.Hour)
	for i := range 2 {
		put(t, s, testKey(t, i), payload(i, 1000))
		os.Chtimes(s.fileOf(testKey(t, i)), future, future)
	}
	put(t, s, testKey(t, 2), payload(2, 2000))
	if got := fmt.Sprint(present(t, s, 3)); got != "[2]" {
		t.Errorf("entries %s, want [2]", got)
	}
}

func TestFutureTimesCountAsNow(t *testing.T) {
	s := open(t, size(5000))
	put(t, s, testKey(t, 0), payload(0, 1800))
	future := time.Now().Add(100 * time.Hour)
	os.Chtimes(s.fileOf(testKey(t, 0)), future, future)
	// It is the newest when it is first seen, and from then on ages.
	for i := 1; i < 6; i++ {
		put(t, s, testKey(t, i), payload(i, 1800))
	}
	if got := fmt.Sprint(present(t, s, 6)); got != "[4 5]" {
		t.Errorf("entries %s, want [4 5]", got)
	}
}

func TestOfEqualTimesTheOlderGoesFirst(t *testing.T) {
	s := open(t, size(5000))
	then := time.Now().Add(-time.Minute)
	for i := range 2 {
		put(t, s, testKey(t, i), payload(i, 1800))
	}
	for i := range 2 {
		os.Chtimes(s.fileOf(testKey(t, i)), then, then)
	}
	put(t, s, testKey(t, 2), payload(2, 1800))
	if got := fmt.Sprint(present(t, s, 3)); got != "[1 2]" {
		t.Errorf("entries %s, want [1 2]", got)
	}
}

func TestTwoStoresKeepOneCap(t *testing.T) {
	one := fileSize(t, 100)
	a := open(t, size(10*one))
	b := open(t, dir(a.Root()))
	for i := range 200 {
		put(t, []*Store{a, b}[i%2], testKey(t, i), payload(i, 100))
		if n := len(present(t, a, i+1)); n > 10 {
			t.Fatalf("%d entries after put %d, cap 10", n, i)
		}
	}
}

func TestLargeDirectoryStaysAtItsCap(t *testing.T) {
	one := fileSize(t, 64)
	const n = 2000
	s := open(t, size(n*one))
	for i := range 3 * n {
		put(t, s, testKey(t, i), payload(i, 64))
	}
	var count int
	var bytes int64
	oldest := 3 * n
	for i := range 3 * n {
		if info, err := os.Stat(s.fileOf(testKey(t, i))); err == nil {
			count++
			bytes += info.Size()
			oldest = min(oldest, i)
		}
	}
	if bytes > n*one+n*one/flushShare+one || count < n*8/10 {
		t.Errorf("%d bytes in %d entries, cap %d bytes", bytes, count, n*one)
	}
	// A shard is a sample: nothing twice as old as the cap's worth survives.
	if oldest < n/2 {
		t.Errorf("entry %d of %d is still there", oldest, 3*n)
	}
	u := s.Usage()
	if d := u.Bytes - bytes; d > one*64 || d < -one*64 {
		t.Errorf("the ledger says %d bytes, the directory has %d", u.Bytes, bytes)
	}
	if u.Kinds[key.DefaultKind][Evictions] == 0 {
		t.Error("evictions were not counted")
	}
}

// What a put may take at the cap does not depend on how many entries there are.
// The control build (tag control_lookatall) must fail this.
func TestPutAtTheCapLooksAtASample(t *testing.T) {
	one := fileSize(t, 64)
	const n = 2000
	s := open(t, size(n*one))
	for i := range n {
		put(t, s, testKey(t, i), payload(i, 64))
	}
	calls, all, worst := 0, 0, 0
	setFault(t, func(Op, string) (syscall.Errno, int) {
		calls++
		return 0, -1
	})
	for i := n; i < n+n/4; i++ {
		calls = 0
		put(t, s, testKey(t, i), payload(i, 64))
		all, worst = all+calls, max(worst, calls)
	}
	// Measured: 839 and 31.
	if worst > n || all/(n/4) > 100 {
		t.Errorf("%d system calls in one put, %d in all", worst, all)
	}
}

func TestLargeEntryIsNotEvictedForItsSize(t *testing.T) {
	one := fileSize(t, 64)
	const n = 1000
	s := open(t, size(n*one+200_000))
	for i := range n {
		put(t, s, testKey(t, i), payload(i, 64))
	}
	put(t, s, testKey(t, n), payload(n, 150_000))
	for i := n + 1; i < n+n/4; i++ {
		put(t, s, testKey(t, i), payload(i, 64))
	}
	if _, why := get(t, s, testKey(t, n)); why != None {
		t.Errorf("the large entry, used later than most, is gone: %v", why)
	}
}

func TestLostLedgerDoesNotStopEviction(t *testing.T) {
	if testing.Short() {
		t.Skip("puts 2,000 entries")
	}
	one := fileSize(t, 100)
	for name, lose := range map[string]func(path string) error{
		"removed":  os.Remove,
		"damaged":  func(p string) error { return os.WriteFile(p, make([]byte, ledgerSize), 0o600) },
		"short":    func(p string) error { return os.Truncate(p, 100) },
		"negative": func(p string) error { l := new(ledger); return os.WriteFile(p, l.encode(), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, size(100*one))
			for i := range 100 {
				put(t, s, testKey(t, i), payload(i, 100))
			}
			s.Flush()
			if err := lose(s.v1 + "/ledger"); err != nil {
				t.Fatal(err)
			}
			s = open(t, dir(s.Root()))
			for i := 100; i < 500; i++ {
				put(t, s, testKey(t, i), payload(i, 100))
			}
			// With a ledger that wrongly says "empty" the cap may be exceeded
			// until as much has been put again, never for good.
			if there := present(t, s, 500); len(there) > 200 {
				t.Errorf("%d entries, cap 100", len(there))
			}
			if name != "negative" {
				if there := present(t, s, 500); len(there) > 100 {
					t.Errorf("%d entries, cap 100", len(there))
				}
			}
		})
	}
}

// The control build (tag control_noclamp) must fail this.
func TestCellsBelowZeroDoNotStopEviction(t *testing.T) {
	one := fileSize(t, 100)
	s := open(t, size(10*one))
	k := testKey(t, 0)
	// Another process has counted the removals of entries that this one counts
	// too.
	for range 1000 {
		s.pending.addEntry(&k.ID, change{-one, -1})
	}
	s.Flush()
	for i := range 100 {
		put(t, s, testKey(t, i), payload(i, 100))
	}
	if there := present(t, s, 100); len(there) > 10 {
		t.Errorf("%d entries, cap 10", len(there))
	}
}

func TestHeldLedgerStopsNobody(t *testing.T) {
	one := fileSize(t, 100)
	s := open(t, size(10*one))
	put(t, s, testKey(t, 0), payload(0, 100))
	other := open(t, dir(s.Root()))
	lock, err := other.lockLedger()
	if lock == nil {
		t.Fatal(err)
	}
	start := time.Now()
	for i := range 100 {
		put(t, s, testKey(t, i), payload(i, 100))
	}
	if d := time.Since(start); d > 5*time.Second {
		t.Errorf("100 puts took %v", d)
	}
	if there := present(t, s, 100); len(there) > 11 {
		t.Errorf("%d entries, cap 10", len(there))
	}
	lock.Unlock()
	s.Flush()
	if u := open(t, dir(s.Root())).Usage(); u.Bytes > 11*one || u.Entries > 11 {
		t.Errorf("afterwards the ledger says %d bytes in %d entries", u.Bytes, u.Entries)
	}
}

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

func TestSweepRemovesWhatTheDeadLeft(t *testing.T) {
	s := open(t)
	me := s.tempName()
	dead := "5b92ecf2-1-1-1.1"
	deadHere := lockfile.Self().String() + "9.1" // another start time: that process is gone
	old := time.Now().Add(-30 * 24 * time.Hour)
	for _, f := range []string{"tmp/" + me, "tmp/" + deadHere, "tmp/" + dead, "tmp/stray", "open/" + me, "open/" + deadHere} {
		os.WriteFile(filepath.Join(s.v1, f), nil, 0o600)
	}
	os.Mkdir(filepath.Join(s.v1, "tmp", deadHere+"dir"), 0o700)
	lock := s.LockPath("idle")
	os.WriteFile(lock, nil, 0o600)
	os.Chtimes(lock, old, old)
	held, err := s.TryLock("held")
	if held == nil {
		t.Fatal(err)
	}
	defer held.Unlock()
	os.Chtimes(s.LockPath("held"), old, old)
	if _, err := s.Trim(context.Background(), nil); err != nil {
		t.Fatal(err)
	}
	for f, want := range map[string]bool{
		"tmp/" + me: true, "tmp/" + deadHere: false, "tmp/" + deadHere + "dir": false,
		// Of another machine and young: its owner may be at work.
		"tmp/" + dead: true, "tmp/stray": true,
		"open/" + me: true, "open/" + deadHere: false,
		"locks/idle.jclock": false, "locks/held.jclock": true,
	} {
		if _, err := os.Lstat(filepath.Join(s.v1, f)); (err == nil) != want {
			t.Errorf("%s: %v, want it there: %v", f, err, want)
		}
	}
}
