package core

import (
	"os"
	"testing"
	"time"

	"jitcache/core/key"
	"jitcache/core/store"
)

// given returns a cache to which a remote has just given the entry of a key: the copy begins later.
func given(t *testing.T, k *key.Key, memory string) (*Cache, string) {
	t.Helper()
	from := t.TempDir()
	other := open(t, Options{Values: map[string]string{"directory": from}, Env: env{"HOME": t.TempDir()}.get})
	if why := other.Put(k, []byte("remote"), `{"a":1}`, false); why != store.None {
		t.Fatal(why)
	}
	data, err := os.ReadFile(entryFile(from, k))
	if err != nil {
		t.Fatal(err)
	}
	b := loaded(t, data)
	defer b.Release()
	if why := store.Parse(b, &k.ID); why != store.None {
		t.Fatal(why)
	}
	to := t.TempDir()
	c := open(t, Options{
		Values: map[string]string{"directory": to, "memory_size": memory}, Env: env{"HOME": t.TempDir()}.get,
	})
	if taken, first := c.copying.add(b); !taken || !first {
		t.Fatal("the entry is not taken")
	}
	time.AfterFunc(50*time.Millisecond, c.makeCopies)
	return c, to
}

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
			return why == store.None && c.Stats().Total.HitsDisk == 1
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

func TestCopiesThatWaitAreBounded(t *testing.T) {
	var q copying
	for n := range 2 * mostCopies {
		b, err := store.NewBlob(store.Item{Key: testKey(t, "n", string(rune('a'+n))), Payload: make([]byte, 1000)}, store.Written{})
		if err != nil {
			t.Fatal(err)
		}
		if taken, _ := q.add(b); taken != (n < mostCopies) {
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
	if taken, _ := large.add(b); taken {
		t.Error("an entry beyond the bound is taken")
	}
}
