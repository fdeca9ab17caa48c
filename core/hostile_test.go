// Files of layers and entries of remotes that are not what they seem.

package core

import (
	"os"
	"strings"
	"syscall"
	"testing"

	"jitcache/core/key"
	"jitcache/core/store"
)

// An attacker who may write a layer replaces a file by a shorter good one after its size
// was read, and before its content is.
//
//jitcache:control shorter
func TestFileOfALayerThatHasShrunkWhenItIsReadIsAMiss(t *testing.T) {
	k, by := testKey(t, "n", "1"), secret(t)
	dir := signedImage(t, by, "", map[*key.Key]string{k: "signed"})
	good, err := os.ReadFile(entryFile(dir, k))
	if err != nil {
		t.Fatal(err)
	}
	o, _ := trusting(t, env{"JITCACHE": "readonly", "JITCACHE_KEYS": by.Public().String()}, dir)
	o.Values["memory_size"] = "0"
	c := open(t, o)
	swapped := false
	t.Cleanup(func() { store.Fault = nil })
	store.Fault = func(op store.Op, _ string) (syscall.Errno, int) {
		if op == store.OpRead && !swapped {
			swapped = true
			os.WriteFile(entryFile(dir, k), good, 0o666)
		}
		return 0, -1
	}
	buf := make([]byte, 100)
	for name, look := range map[string]func() (string, store.Reason){
		"blob": func() (string, store.Reason) { return get(t, c, k) },
		"into": func() (string, store.Reason) {
			n, why := c.LookupInto(&k.ID, []byte(k.Kind), buf, NotOpened, nil)
			return string(buf[:n]), why
		},
	} {
		os.WriteFile(entryFile(dir, k), []byte(strings.Repeat("x", 5000)), 0o666)
		swapped = false
		defer func() {
			if p := recover(); p != nil {
				t.Errorf("%s: %v", name, p)
			}
		}()
		if got, why := look(); why != store.Truncated {
			t.Errorf("%s: %q, %v", name, got, why)
		}
		if got, why := look(); got != "signed" {
			t.Errorf("%s: the next lookup: %q, %v", name, got, why)
		}
	}
}

// Names are bounded for keys, and `jitcache ls` and Explain keep those of entries.
func TestEntryOfARemoteWhoseNameIsTooLongIsNotUsed(t *testing.T) {
	for size, want := range map[int]store.Reason{key.MaxName: store.None, key.MaxName + 1: store.Malformed} {
		k := testKey(t, "n", "1")
		k.Name = strings.Repeat("n", size)
		dir := t.TempDir()
		if why := open(t, Options{Values: map[string]string{"directory": dir}}).Put(k, []byte("payload"), "", false); why != store.None {
			t.Fatal(why)
		}
		data, err := os.ReadFile(entryFile(dir, k))
		if err != nil {
			t.Fatal(err)
		}
		o, _ := trusting(t, env{})
		if why := received(t, open(t, o), data, &k.ID, true); why != want {
			t.Errorf("a name of %d bytes: %v, want %v", size, why, want)
		}
	}
}
