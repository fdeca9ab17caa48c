// Which puts replace an entry, and which are not stored.

package store

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"jitcache/core/key"
)

func (s *Store) fileOf(k *key.Key) string {
	hex := k.ID.String()
	return s.entries + hex[:2] + "/" + hex[2:] + entrySuffix
}

func TestGoodEntryIsKeptUnlessReplaced(t *testing.T) {
	s := open(t)
	k := testKey(t, 1)
	put(t, s, k, []byte("first"))
	if w, why := s.Put(Item{Key: k, Payload: []byte("second")}); why != None || w.Created != 0 {
		t.Errorf("put again: %+v, %v", w, why)
	}
	if got, _ := get(t, s, k); string(got) != "first" {
		t.Errorf("now %q", got)
	}
	if _, why := s.Put(Item{Key: k, Payload: []byte("second"), Replace: true}); why != None {
		t.Error(why)
	}
	if got, _ := get(t, s, k); string(got) != "second" {
		t.Errorf("replaced, but %q", got)
	}
}

func TestDamagedEntryIsReplaced(t *testing.T) {
	for name, damage := range map[string]func(path string) error{
		"truncated": func(p string) error { return os.Truncate(p, 10) },
		"empty":     func(p string) error { return os.Truncate(p, 0) },
		"folder":    func(p string) error { os.Remove(p); return os.Mkdir(p, 0o700) },
		"full folder": func(p string) error {
			os.Remove(p)
			os.Mkdir(p, 0o700)
			return os.WriteFile(p+"/x", nil, 0o600)
		},
		"pipe":     func(p string) error { os.Remove(p); return syscall.Mkfifo(p, 0o600) },
		"link":     func(p string) error { os.Remove(p); return os.Symlink("/etc/passwd", p) },
		"writable": func(p string) error { return os.Chmod(p, 0o666) },
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			k := testKey(t, 1)
			put(t, s, k, []byte("payload"))
			if err := damage(s.fileOf(k)); err != nil {
				t.Fatal(err)
			}
			if _, why := get(t, s, k); why == None {
				t.Fatal("still a hit")
			}
			put(t, s, k, []byte("again"))
			if got, why := get(t, s, k); string(got) != "again" {
				t.Errorf("%q, %v", got, why)
			}
		})
	}
}

func TestEntryLargerThanTheCapIsNotStored(t *testing.T) {
	s := open(t, size(1000))
	if _, why := s.Put(Item{Key: testKey(t, 1), Payload: payload(1, 1000)}); why != TooLarge {
		t.Errorf("reason %v", why)
	}
	put(t, s, testKey(t, 2), payload(1, 500))
}

//jitcache:control noinputs
func TestResultOfAChangedInputIsNotStored(t *testing.T) {
	s := open(t)
	path := filepath.Join(t.TempDir(), "f")
	os.WriteFile(path, []byte("before"), 0o600)
	b := key.NewBuilder()
	if err := b.AddFile("header", path); err != nil {
		t.Fatal(err)
	}
	k, _ := b.Seal()
	os.WriteFile(path, []byte("edited"), 0o600)
	if _, why := s.Put(Item{Key: k, Payload: []byte("x")}); why != InputChange {
		t.Errorf("reason %v", why)
	}
	if _, why := get(t, s, k); why != Absent {
		t.Errorf("get: %v", why)
	}
}

func TestPutMakesWhatWasRemoved(t *testing.T) {
	for name, remove := range map[string]func(s *Store, k *key.Key) error{
		"shard":   func(s *Store, k *key.Key) error { return os.RemoveAll(filepath.Dir(s.fileOf(k))) },
		"tmp":     func(s *Store, _ *key.Key) error { return os.RemoveAll(s.v1 + "/tmp") },
		"entries": func(s *Store, _ *key.Key) error { return os.RemoveAll(s.v1 + "/entries") },
		"v1":      func(s *Store, _ *key.Key) error { return os.RemoveAll(s.v1) },
		"root":    func(s *Store, _ *key.Key) error { return os.RemoveAll(s.root) },
		"parent":  func(s *Store, _ *key.Key) error { return os.RemoveAll(filepath.Dir(s.root)) },
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			k := testKey(t, 1)
			put(t, s, k, []byte("x"))
			if err := remove(s, k); err != nil {
				t.Fatal(err)
			}
			if name != "tmp" {
				if _, why := get(t, s, k); why != Absent {
					t.Errorf("get: %v", why)
				}
			}
			put(t, s, k, []byte("y"))
			if _, why := get(t, s, k); why != None {
				t.Errorf("after put: %v", why)
			}
			// The put has made a cache that others can open.
			open(t, dir(s.root))
		})
	}
}

func TestPutLeavesNoTemporaryFile(t *testing.T) {
	s := open(t)
	for i := range 20 {
		put(t, s, testKey(t, i), payload(i, 100))
	}
	names, err := os.ReadDir(s.v1 + "/tmp")
	if err != nil || len(names) != 0 {
		t.Errorf("%v, %v", names, err)
	}
}

func TestFileSizeLimitIsNoSignal(t *testing.T) {
	var old syscall.Rlimit
	syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old)
	s := open(t)
	low := old
	low.Cur = 10_000
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &low); err != nil {
		t.Skip(err)
	}
	defer syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old)
	if _, why := s.Put(Item{Key: testKey(t, 1), Payload: payload(1, 20_000)}); why != NoSpace {
		t.Errorf("reason %v", why)
	}
}

func TestManyWritersOneEntry(t *testing.T) {
	s := open(t)
	k := testKey(t, 1)
	want := payload(1, 50_000)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				if _, why := s.Put(Item{Key: k, Payload: want, Replace: true}); why != None {
					t.Error(why)
				}
				if got, why := get(t, s, k); why != None || !bytes.Equal(got, want) {
					t.Errorf("%d bytes, %v", len(got), why)
				}
			}
		})
	}
	wg.Wait()
}

func TestDurablePutIsAPut(t *testing.T) {
	s := open(t, func(o *Options) { o.Durable = true })
	synced := 0
	setFault(t, func(op Op, _ string) (syscall.Errno, int) {
		if op == OpSync {
			synced++
		}
		return 0, -1
	})
	put(t, s, testKey(t, 1), []byte("x"))
	if synced == 0 {
		t.Error("nothing was flushed")
	}
	if _, why := get(t, s, testKey(t, 1)); why != None {
		t.Error(why)
	}
}

func TestRemove(t *testing.T) {
	s := open(t)
	k := testKey(t, 1)
	if found, why := s.Remove(&k.ID); found || why != None {
		t.Errorf("of nothing: %v, %v", found, why)
	}
	put(t, s, k, []byte("x"))
	if found, why := s.Remove(&k.ID); !found || why != None {
		t.Errorf("%v, %v", found, why)
	}
	if _, why := get(t, s, k); why != Absent {
		t.Errorf("get: %v", why)
	}
}

//jitcache:control nochecksum
func TestGetIntoReadsWhatGetReads(t *testing.T) {
	s := open(t)
	for _, n := range []int{0, 1, 4096, 100_000, 17 << 20} {
		k := testKey(t, n)
		want := payload(n, n)
		if _, why := s.Put(Item{Key: k, Payload: want, Attributes: `{"a":1}`, Cost: 7}); why != None {
			t.Fatal(why)
		}
		for _, room := range []int{0, 1024} {
			buf := make([]byte, n+room)
			got, kind, cost, why := s.GetInto(&k.ID, buf)
			if why != None || got != n || !bytes.Equal(buf[:n], want) || string(kind) != key.DefaultKind || cost != 7 {
				t.Errorf("%d bytes into %d: %d, %q, %d, %v", n, len(buf), got, kind, cost, why)
			}
		}
		if n > 0 {
			if got, _, _, why := s.GetInto(&k.ID, make([]byte, n-1)); why != None || got != n {
				t.Errorf("into too little: %d, %v", got, why)
			}
		}
	}
	k := testKey(t, 4096)
	data, _ := os.ReadFile(s.fileOf(k))
	data[17] ^= 1
	os.WriteFile(s.fileOf(k), data, 0o600)
	for _, room := range []int{0, 1024} {
		if _, _, _, why := s.GetInto(&k.ID, make([]byte, 4096+room)); why != Checksum {
			t.Errorf("damaged, room %d: %v", room, why)
		}
	}
}

// used returns the recency of an entry.
func used(t *testing.T, s *Store, k *key.Key) time.Time {
	t.Helper()
	info, err := os.Stat(s.fileOf(k))
	if err != nil {
		t.Fatal(err)
	}
	return info.ModTime()
}

func TestHitsRenewRecency(t *testing.T) {
	now := time.Now()
	for name, c := range map[string]struct {
		entries int64 // that the cap has room for
		age     time.Duration
		network bool
		renewed bool
	}{
		"room for few":              {smallCount - 1, time.Minute, false, true},
		"room for many":             {smallCount + 1, time.Minute, false, false},
		"no cap":                    {0, time.Minute, false, false},
		"many, used two hours ago":  {smallCount + 1, 2 * time.Hour, false, true},
		"many, from the future":     {smallCount + 1, -2 * time.Hour, false, true},
		"few, network file system":  {smallCount - 1, 2 * time.Hour, true, false},
		"many, network file system": {smallCount + 1, 2 * time.Hour, true, false},
	} {
		for _, flushed := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, flushed %v", name, flushed), func(t *testing.T) {
				k := testKey(t, 0)
				s := open(t, size(c.entries*fileSize(t, 1)))
				put(t, s, k, []byte("x"))
				if flushed {
					s.Flush()
				}
				s.mount.Network = c.network
				then := now.Add(-c.age)
				os.Chtimes(s.fileOf(k), then, then)
				get(t, s, k)
				if d := time.Since(used(t, s, k)).Abs(); (d < 10*time.Second) != c.renewed {
					t.Errorf("used %v ago", d)
				}
			})
		}
	}
}

func TestTimeStampsOfPutsAreDistinctAndAscending(t *testing.T) {
	s := open(t)
	var last time.Time
	for i := range 300 {
		k := testKey(t, i)
		put(t, s, k, []byte("x"))
		if at := used(t, s, k); !at.After(last) {
			t.Fatalf("put %d at %v, the one before at %v", i, at, last)
		} else {
			last = at
		}
	}
}

// Several puts find no entry, and each renames its own to the place. One entry is counted.
//
//jitcache:control nofirst by_the_rename
func TestPutsOfOneKeyAtOnceAreCountedOnce(t *testing.T) {
	for name, unknown := range map[string]bool{"by the rename": false, "where the kernel cannot tell": true} {
		t.Run(name, func(t *testing.T) {
			one := open(t, size(1<<20))
			two := open(t, size(1<<20), dir(one.root))
			k := testKey(t, 1)
			put(t, one, testKey(t, 2), payload(2, 100))
			renamed := false
			Fault = func(op Op, _ string) (syscall.Errno, int) {
				if op == OpRename && !renamed {
					renamed = true
					put(t, two, k, payload(1, 1000))
					if unknown {
						return syscall.EINVAL, -1
					}
				}
				return 0, -1
			}
			defer func() { Fault = nil }()
			put(t, one, k, payload(1, 1000))
			Fault = nil
			one.Flush()
			two.Flush()
			if u := one.Usage(); u.Entries != 2 && !unknown {
				t.Errorf("%d entries, there are 2", u.Entries)
			}
			if got, why := get(t, one, k); !bytes.Equal(got, payload(1, 1000)) {
				t.Errorf("%v", why)
			}
		})
	}
}
