// What the table of names remembers.

package store

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"jitcache/core/key"
)

func TestNamesRememberTheLastTwoKeys(t *testing.T) {
	s := open(t)
	k := func(source string) *key.Key {
		b := key.NewBuilder()
		b.Add("source", []byte(source))
		b.SetName("saxpy")
		k, _ := b.Seal()
		return k
	}
	if got := s.LastNamed("saxpy"); got != nil {
		t.Errorf("before any put: %v", got)
	}
	for _, source := range []string{"a", "b", "b", "c"} {
		s.Put(Item{Key: k(source), Payload: []byte("x"), Replace: true})
	}
	got := s.LastNamed("saxpy")
	if len(got) != 2 || got[0].Key.ID != k("c").ID || got[1].Key.ID != k("b").ID || got[0].Stored <= got[1].Stored {
		t.Errorf("%v", got)
	}
	if len(got[0].Key.Parts) != 1 || got[0].Key.Parts[0].Label != "source" {
		t.Errorf("components %v", got[0].Key.Parts)
	}
	if s.LastNamed("another") != nil {
		t.Error("another name is known")
	}
}

func TestManyNamesAreRemembered(t *testing.T) {
	s := open(t)
	const n = 3000
	for i := range n {
		s.rememberName(testKey(t, i), int64(i))
	}
	known := 0
	for i := range n {
		if got := s.LastNamed(testKey(t, i).Name); len(got) > 0 && got[0].Key.ID == testKey(t, i).ID {
			known++
		}
	}
	if known < n*95/100 {
		t.Errorf("%d of %d names are known", known, n)
	}
	var bytes int64
	files, _ := filepath.Glob(s.v1 + "/names/*")
	for _, f := range files {
		info, _ := os.Stat(f)
		bytes += info.Size()
	}
	if bytes > 16<<20 {
		t.Errorf("the table takes %d bytes", bytes)
	}
}

func TestDamagedNamesAreForgotten(t *testing.T) {
	s := open(t)
	put(t, s, testKey(t, 1), []byte("x"))
	file, _ := nameSet(testKey(t, 1).Name)
	path := filepath.Join(s.v1, "names", file)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range data {
		if data[i] != 0 {
			data[i] ^= 0x55
		}
	}
	os.WriteFile(path, data, 0o600)
	if got := s.LastNamed(testKey(t, 1).Name); got != nil {
		t.Errorf("%v", got)
	}
	put(t, s, testKey(t, 2), []byte("x"))
}

func TestNameWithTooManyComponentsIsNotRemembered(t *testing.T) {
	s := open(t)
	b := key.NewBuilder()
	for i := range 500 {
		b.Add(fmt.Sprintf("component %d", i), nil)
	}
	b.SetName("large")
	k, _ := b.Seal()
	put(t, s, k, []byte("x"))
	if got := s.LastNamed("large"); got != nil {
		t.Errorf("%d components", len(got[0].Key.Parts))
	}
	if _, why := get(t, s, k); why != None {
		t.Error(why)
	}
}

func TestEveryNameIsListedWithItsLastEntry(t *testing.T) {
	s := open(t)
	want := map[string]key.ID{}
	for i := range 40 {
		k := testKey(t, i)
		k.Name = fmt.Sprintf("f%d", i%20)
		put(t, s, k, []byte("code"))
		want[k.Name] = k.ID
	}
	got := map[string]key.ID{}
	s.EachName(func(n Named) { got[n.Key.Name] = n.Key.ID })
	if !maps.Equal(got, want) {
		t.Errorf("%d names, want %d", len(got), len(want))
	}
}
