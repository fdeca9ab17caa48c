// Puts and gets, and what they cost.

package store

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"jitcache/core/key"
)

// open returns a store in a new private directory.
func open(t testing.TB, options ...func(*Options)) *Store {
	t.Helper()
	o := Options{Directory: filepath.Join(t.TempDir(), "cache")}
	for _, f := range options {
		f(&o)
	}
	s, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// testKey returns a key that depends on n alone.
func testKey(t testing.TB, n int) *key.Key {
	t.Helper()
	b := key.NewBuilder()
	if err := b.Add("n", fmt.Append(nil, n)); err != nil {
		t.Fatal(err)
	}
	b.SetName(fmt.Sprintf("entry %08d", n))
	k, err := b.Seal()
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// payload returns size bytes that depend on n.
func payload(n, size int) []byte {
	r := rand.New(rand.NewPCG(uint64(n), uint64(size)))
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

func put(t testing.TB, s *Store, k *key.Key, data []byte) {
	t.Helper()
	if _, why := s.Put(Item{Key: k, Payload: data}); why != None {
		t.Fatalf("put: %v", why)
	}
}

func get(t testing.TB, s *Store, k *key.Key) ([]byte, Reason) {
	t.Helper()
	b, why := s.Get(&k.ID)
	if why != None {
		return nil, why
	}
	defer b.Release()
	return bytes.Clone(b.Data()), None
}

func TestGetReturnsWhatWasPut(t *testing.T) {
	s := open(t)
	for _, size := range []int{0, 1, 63, 64, 65, 4096, 100_000, 3 << 20, 17 << 20} {
		k := testKey(t, size)
		want := payload(size, size)
		if got, why := get(t, s, k); why != Absent {
			t.Fatalf("before put: %d bytes, %v", len(got), why)
		}
		attrs := `{"lowered": {"f": "_Z1f"}}`
		w, why := s.Put(Item{Key: k, Payload: want, Attributes: attrs, Cost: 123})
		if why != None || w.Ino == 0 {
			t.Fatalf("put of %d bytes: %+v, %v", size, w, why)
		}
		b, why := s.Get(&k.ID)
		if why != None {
			t.Fatalf("get of %d bytes: %v", size, why)
		}
		if !bytes.Equal(b.Data(), want) {
			t.Fatalf("get of %d bytes: other bytes", size)
		}
		if b.Attributes() != attrs || b.Name() != k.Name || b.Kind() != key.DefaultKind {
			t.Errorf("attributes %q, name %q, kind %q", b.Attributes(), b.Name(), b.Kind())
		}
		if at, cost := b.Created(); at != w.Created || cost != 123 {
			t.Errorf("created %d cost %d, want %d and 123", at, cost, w.Created)
		}
		if end := b.Buffer()[size]; end != 0 {
			t.Errorf("byte after the payload of %d is %d, want NUL", size, end)
		}
		if dev, ino := b.File(); dev != w.Dev || ino != w.Ino {
			t.Errorf("file %d:%d, want %d:%d", dev, ino, w.Dev, w.Ino)
		}
		b.Release()
	}
	r, err := s.Verify(context.Background(), false, nil)
	if err != nil || len(r.Bad) != 0 || r.Entries != 9 {
		t.Errorf("verify: %+v, %v", r, err)
	}
}

func BenchmarkHit(b *testing.B) {
	s := open(b)
	keys := make([]*key.Key, 1000)
	for i := range keys {
		keys[i] = testKey(b, i)
		put(b, s, keys[i], payload(i, 64<<10))
	}
	i := 0
	for b.Loop() {
		e, why := s.Get(&keys[i%1000].ID)
		if why != None {
			b.Fatal(why)
		}
		e.Release()
		i++
	}
}

func BenchmarkMiss(b *testing.B) {
	s := open(b)
	k := testKey(b, 1)
	for b.Loop() {
		s.Get(&k.ID)
	}
}

func BenchmarkPut(b *testing.B) {
	s := open(b)
	data := payload(1, 64<<10)
	i := 0
	for b.Loop() {
		put(b, s, testKey(b, i), data)
		i++
	}
}

func BenchmarkPutFloor(b *testing.B) {
	dir := b.TempDir()
	data := payload(1, 64<<10)
	i := 0
	for b.Loop() {
		tmp := filepath.Join(dir, "tmp")
		os.WriteFile(tmp, data, 0o600)
		os.Rename(tmp, filepath.Join(dir, fmt.Sprint(i)))
		i++
	}
}

func TestPathOfAnEntryHasItsKeyInHexadecimal(t *testing.T) {
	s := open(t)
	for n := range 100 {
		id := testKey(t, n).ID
		if n == 0 {
			for i := range id {
				id[i] = byte(8 * i)
			}
		}
		var p entryPath
		want := s.entries + id.String()[:2] + "/" + id.String()[2:] + ".jce\x00"
		if got := string(s.entryPath(&p, &id)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
