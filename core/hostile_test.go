package core

import (
	"os"
	"strings"
	"syscall"
	"testing"

	"jitcache/core/key"
	"jitcache/core/store"
)

// Whoever may write a layer swaps a file for a shorter good one between the look at its
// size and the read.
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
