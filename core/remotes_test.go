// Which entries of remotes are used, and what a miss says of them.

package core

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"jitcache/core/blob"
	"jitcache/core/key"
	"jitcache/core/remote"
	"jitcache/core/store"
)

// loaded returns the bytes of an entry as they come from a remote. The caller releases it.
func loaded(t *testing.T, data []byte) *blob.Blob {
	t.Helper()
	b, err := blob.New(len(data))
	if err != nil {
		t.Fatal(err)
	}
	copy(b.Buffer(), data)
	return b
}

// received hands a cache bytes that a remote has given for a key.
func received(t *testing.T, c *Cache, data []byte, id *key.ID, unsigned bool) store.Reason {
	t.Helper()
	client, err := remote.New(remote.Setting{URL: "redis://test", Unsigned: unsigned}, remote.Options{Program: "/nowhere"})
	if err != nil {
		t.Fatal(err)
	}
	b := loaded(t, data)
	defer b.Release()
	return c.accept(&Remote{client: client}, b, id)
}

func TestForgedEntryOfARemoteIsNeverUsed(t *testing.T) {
	for _, a := range attacks() {
		t.Run(a.name, func(t *testing.T) {
			by, k, other := secret(t), testKey(t, "n", "1"), testKey(t, "n", "2")
			data, err := os.ReadFile(entryFile(a.do(t, by, k, other), k))
			if err != nil {
				t.Fatal(err)
			}
			o, _ := trusting(t, env{"JITCACHE_KEYS": by.Public().String()})
			if why := received(t, open(t, o), data, &k.ID, false); why != store.Signature && why != store.ForeignKey {
				t.Errorf("%v", why)
			}
		})
	}
}

func TestEntryOfARemoteIsTheSignedOneOfItsKeyOrNone(t *testing.T) {
	k, by, stranger := testKey(t, "n", "1"), secret(t), secret(t)
	data, err := os.ReadFile(entryFile(signedImage(t, by, "", map[*key.Key]string{k: "signed"}), k))
	if err != nil {
		t.Fatal(err)
	}
	other := testKey(t, "n", "2").ID
	for keys, want := range map[string]store.Reason{
		by.Public().String(): store.None, stranger.Public().String(): store.Signature, "": store.Signature,
		by.Public().String() + ",withdrawn " + by.Public().String(): store.Signature,
	} {
		o, _ := trusting(t, env{"JITCACHE_KEYS": keys})
		c := open(t, o)
		if why := received(t, c, data, &k.ID, false); why != want {
			t.Errorf("%s: %v, want %v", keys, why, want)
		}
		if why := received(t, c, data, &other, true); why != store.ForeignKey {
			t.Errorf("%s: under another key: %v", keys, why)
		}
		// Who lets a remote hold what is unsigned has not taken a withdrawal back.
		if why := received(t, c, data, &k.ID, true); (why == store.None) == strings.Contains(keys, "withdrawn") {
			t.Errorf("%s: unsigned: %v", keys, why)
		}
	}
	o, _ := trusting(t, env{"JITCACHE_KEYS": by.Public().String()})
	c := open(t, o)
	for i := range data {
		bad := bytes.Clone(data)
		bad[i] ^= 0x10
		if why := received(t, c, bad, &k.ID, true); why == store.None {
			t.Errorf("byte %d of %d was changed, and it is used", i, len(data))
		}
		if why := received(t, c, data[:i], &k.ID, true); why == store.None {
			t.Errorf("it ends after %d of %d bytes, and is used", i, len(data))
		}
	}
}

//jitcache:control noresting
func TestMissSaysThatNoRemoteWasAskedAndWhy(t *testing.T) {
	defer func(was func() string) { StorageProgram, remote.Spent = was, remote.Budget{} }(StorageProgram)
	StorageProgram = func() string { return "/bin/false" }
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	remote.Spent = remote.Budget{}
	o, _ := trusting(t, env{"JITCACHE_REMOTE": "redis://test|trust=unsigned"})
	c := open(t, o)
	for n, want := range []store.Reason{store.RemoteOff, store.RemoteOff, store.RemoteBudget} {
		if want == store.RemoteBudget {
			remote.Spent.Vain(time.Hour)
		}
		k := testKey(t, "n", strconv.Itoa(n))
		if b, why := c.Get(&k.ID, nil, nil); b != nil || why != want {
			t.Errorf("lookup %d: %v, want %v", n, why, want)
		}
		if _, why := c.Quiet(); why != want {
			t.Errorf("what the front says after lookup %d: %v, want %v", n, why, want)
		}
	}
}
