// When entries of a remote are copied into the directory.

package core

import (
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"

	"jitcache/core/blob"
	"jitcache/core/key"
	"jitcache/core/store"
)

// elsewhere returns the cache of a machine of its own.
func elsewhere(t *testing.T) *Cache {
	t.Helper()
	return open(t, Options{Values: map[string]string{"directory": t.TempDir(), "memory_size": "0"}, Env: env{"HOME": t.TempDir()}.get})
}

// sent returns the entry of a key as a remote gives it that another machine has filled.
func sent(t *testing.T, other *Cache, k *key.Key, payload []byte) *blob.Blob {
	t.Helper()
	if why := other.Put(k, payload, `{"a":1}`, false); why != store.None {
		t.Fatal(why)
	}
	data, err := os.ReadFile(entryFile(other.store.Root(), k))
	if err != nil {
		t.Fatal(err)
	}
	b := loaded(t, data)
	t.Cleanup(b.Release)
	if why := store.Parse(b, &k.ID); why != store.None {
		t.Fatal(why)
	}
	return b
}

// given returns a cache to which a remote has just given the entry of a key: the copy begins later.
func given(t *testing.T, k *key.Key, memory string) (*Cache, string) {
	t.Helper()
	b := sent(t, elsewhere(t), k, []byte("remote"))
	to := t.TempDir()
	c := open(t, Options{
		Values: map[string]string{"directory": to, "memory_size": memory}, Env: env{"HOME": t.TempDir()}.get,
	})
	if taken, first := c.copying.addEntry(b); !taken || !first {
		t.Fatal("the entry is not taken")
	}
	time.AfterFunc(50*time.Millisecond, c.makeCopies)
	return c, to
}

//jitcache:control nosettling
func TestWhatARemoteHasGivenIsInTheDirectoryForAllWhoAsk(t *testing.T) {
	k := testKey(t, "n", "1")
	entries := func(c *Cache) int {
		n, err := c.Len()
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for name, sees := range map[string]func(c *Cache, dir string) bool{
		"get": func(c *Cache, _ string) bool {
			b, why := c.Get(&k.ID, nil, nil)
			if b != nil {
				b.Release()
			}
			return why == store.None && c.Stats().Total.HitsRemote == 1
		},
		"get into a buffer": func(c *Cache, _ string) bool {
			buf := make([]byte, 100)
			n, why := c.LookupInto(&k.ID, nil, buf, NotOpened, nil)
			return why == store.None && string(buf[:n]) == "remote"
		},
		"count": func(c *Cache, _ string) bool { return entries(c) == 1 },
		"list": func(c *Cache, _ string) (seen bool) {
			err := c.List(t.Context(), "", func(*Listed) error { seen = true; return nil })
			return err == nil && seen
		},
		"keys": func(c *Cache, _ string) bool {
			n := 0
			for part := 0; ; part++ {
				ids, ok := c.Keys(part)
				if !ok {
					return n == 1
				}
				n += len(ids)
			}
		},
		"describe": func(c *Cache, _ string) bool { _, ok := c.Describe(&k.ID, ""); return ok },
		"hold": func(c *Cache, _ string) bool {
			b, why := c.Holds(&k.ID)
			if b != nil {
				b.Release()
			}
			return why == store.None
		},
		"note": func(c *Cache, _ string) bool { return string(c.LoadNote(&k.ID)) == "remote" },
		"remove": func(c *Cache, _ string) bool {
			found, why := c.Remove(&k.ID)
			time.Sleep(100 * time.Millisecond)
			return found && why == store.None && entries(c) == 0
		},
		"clear": func(c *Cache, _ string) bool {
			done, err := c.Clear(t.Context(), "", nil)
			time.Sleep(100 * time.Millisecond)
			return err == nil && done.Entries == 1 && entries(c) == 0
		},
		"verify": func(c *Cache, _ string) bool {
			r, err := c.Verify(t.Context(), false, nil)
			return err == nil && r.Entries == 1
		},
		"put what is there": func(c *Cache, dir string) bool {
			why := c.Put(k, []byte("own"), "", false)
			time.Sleep(100 * time.Millisecond)
			return why == store.None && payload(t, dir, k) == "remote"
		},
		"replace": func(c *Cache, dir string) bool {
			why := c.Put(k, []byte("own"), "", true)
			return why == store.None && payload(t, dir, k) == "own"
		},
		"its file": func(c *Cache, dir string) bool {
			if _, err := c.Store(); err != nil {
				return false
			}
			_, err := os.Stat(entryFile(dir, k))
			return err == nil
		},
		"flush": func(c *Cache, dir string) bool {
			c.Flush()
			_, err := os.Stat(entryFile(dir, k))
			return err == nil
		},
	} {
		for _, memory := range []string{"0", "1M"} {
			t.Run(name+" "+memory, func(t *testing.T) {
				c, dir := given(t, k, memory)
				if !sees(c, dir) {
					t.Error("the entry is not there")
				}
			})
		}
	}
}

// payload returns what an entry's file has, as another process reads it.
func payload(t *testing.T, dir string, k *key.Key) string {
	t.Helper()
	c := open(t, Options{Values: map[string]string{"directory": dir}, Env: env{"HOME": t.TempDir()}.get})
	b, why := c.Get(&k.ID, nil, nil)
	if why != store.None {
		t.Fatal(why)
	}
	defer b.Release()
	return string(b.Data())
}

// filled returns a cache to which a remote has given n entries with payloads of size bytes.
func filled(t *testing.T, pause time.Duration, n, size int) (*Cache, []*key.Key) {
	t.Helper()
	other, c := elsewhere(t), elsewhere(t)
	c.copying.pause = pause
	var keys []*key.Key
	for i := range n {
		k := testKey(t, "n", strconv.Itoa(i))
		c.copyLater(sent(t, other, k, make([]byte, size)))
		keys = append(keys, k)
	}
	return c, keys
}

func copied(c *Cache, keys []*key.Key) (n int) {
	for _, k := range keys {
		if _, err := os.Stat(entryFile(c.store.Root(), k)); err == nil {
			n++
		}
	}
	return n
}

func waitForCopies(t *testing.T, c *Cache, keys []*key.Key, want int) {
	t.Helper()
	for end := time.Now().Add(time.Minute); copied(c, keys) < want; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d of %d entries are copied", copied(c, keys), len(keys))
		}
	}
}

//jitcache:control nopause
func TestNothingIsCopiedBeforeTheProgramPausesOrAsks(t *testing.T) {
	c, keys := filled(t, time.Hour, mostCopies/2, 10)
	time.Sleep(100 * time.Millisecond)
	if n := copied(c, keys); n != 0 {
		t.Errorf("%d entries are copied", n)
	}
	c.settle()
	if n := copied(c, keys); n != len(keys) {
		t.Errorf("%d of %d entries are copied", n, len(keys))
	}
}

func TestALookupDoesNotWaitForTheCopy(t *testing.T) {
	c, keys := filled(t, time.Hour, 3, 10)
	buf := make([]byte, 5)
	if n, why := c.LookupInto(&keys[2].ID, nil, buf, NotOpened, nil); n != 10 || why != store.None {
		t.Errorf("%d bytes, %v", n, why)
	}
	b, why := c.Get(&keys[2].ID, nil, nil)
	if why != store.None {
		t.Fatal(why)
	}
	b.Release()
	if copied(c, keys) != 0 {
		t.Error("it is copied")
	}
	if n := c.Stats().Total.HitsRemote; n != 1 {
		t.Errorf("%d hits are counted", n)
	}
}

func TestAnEntryThatIsAskedForIsCopiedBeforeTheOthers(t *testing.T) {
	c, keys := filled(t, time.Hour, mostCopies/2, 10)
	last := len(keys) - 1
	c.settleEntry(&keys[last].ID)
	if copied(c, keys[last:]) != 1 {
		t.Error("who asks for an entry does not see it")
	}
	c.settle()
	before, at := 0, changed(t, c, keys[last])
	for _, k := range keys[:last] {
		if changed(t, c, k).Before(at) {
			before++
		}
	}
	if before > 1 { // one may be under way
		t.Errorf("%d entries are copied before", before)
	}
}

// changed returns when an entry's file was made.
func changed(t *testing.T, c *Cache, k *key.Key) time.Time {
	t.Helper()
	info, err := os.Stat(entryFile(c.store.Root(), k))
	if err != nil {
		t.Fatal(err)
	}
	return time.Unix(info.Sys().(*syscall.Stat_t).Ctim.Unix())
}

func TestCopiesAreMadeWithoutAPauseIfManyWait(t *testing.T) {
	for name, of := range map[string][2]int{"entries": {mostCopies/2 + 1, 10}, "bytes": {9, 1 << 20}} {
		t.Run(name, func(t *testing.T) {
			c, keys := filled(t, time.Hour, of[0], of[1])
			waitForCopies(t, c, keys, 1)
			c.settle()
		})
	}
}

func TestCopiesAreMadeInAPause(t *testing.T) {
	c, keys := filled(t, time.Millisecond, 3, 10)
	waitForCopies(t, c, keys, len(keys))
}

func TestCopiesThatWaitAreBounded(t *testing.T) {
	var q copying
	for n := range 2 * mostCopies {
		b, err := store.NewBlob(store.Item{Key: testKey(t, "n", string(rune('a'+n))), Payload: make([]byte, 1000)}, store.Written{})
		if err != nil {
			t.Fatal(err)
		}
		if taken, _ := q.addEntry(b); taken != (n < mostCopies) {
			t.Errorf("entry %d: taken %v", n, taken)
		}
		b.Release()
	}
	var large copying
	b, err := store.NewBlob(store.Item{Key: testKey(t, "n", "1"), Payload: make([]byte, mostCopied+1)}, store.Written{})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Release()
	if taken, _ := large.addEntry(b); taken {
		t.Error("an entry beyond the bound is taken")
	}
}
