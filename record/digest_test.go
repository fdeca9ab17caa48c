// Contents are remembered by stamps.

package record

import (
	"os"
	"testing"

	"jitcache/core/key"
)

func TestWhatWasReadIsRememberedByItsStamp(t *testing.T) {
	w := newWorld(t)
	path := w.put("file", "1\n")
	stampOf := func() Stamp {
		t.Helper()
		s := status{Read: now()}
		if errno := s.At(ended(path), 0); errno != 0 {
			t.Fatal(errno)
		}
		return s.Stamp
	}
	d := &digests{}
	fresh := stampOf()
	if _, known := recall(fresh); known {
		t.Error("what was not read is remembered")
	}
	if _, _, err := d.of(path, &fresh); err != nil {
		t.Fatal(err)
	}
	settle()
	settled := stampOf()
	one, _, err := d.of(path, &settled)
	if err != nil || one != key.Sum([]byte("1\n")) {
		t.Fatal(one, err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if again, _, err := d.of(path, &settled); err != nil || again != one {
		t.Errorf("%v: it was read again", err)
	}
	if _, _, err := d.of(path, &fresh); err == nil && !fresh.Proves() {
		t.Error("a stamp that proves nothing was believed")
	}
	w.put("file", "2\n")
	settle()
	other := stampOf()
	if two, _, err := d.of(path, &other); err != nil || two != key.Sum([]byte("2\n")) {
		t.Errorf("%v: another file has the digest of the first", err)
	}
}
