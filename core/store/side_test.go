package store

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"jitcache/core/blob"
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
		s.remember(testKey(t, i), int64(i))
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
	rel, _ := nameSet(testKey(t, 1).Name)
	data, err := os.ReadFile(filepath.Join(s.v1, rel))
	if err != nil {
		t.Fatal(err)
	}
	for i := range data {
		if data[i] != 0 {
			data[i] ^= 0x55
		}
	}
	os.WriteFile(filepath.Join(s.v1, rel), data, 0o600)
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

func TestCountersOfTwoStoresAddUp(t *testing.T) {
	a := open(t)
	b := open(t, dir(a.Root()))
	a.Count([]byte("cubin"), Compiles, 3)
	b.CountHit([]byte("cubin"), 5)
	b.CountHit([]byte("native"), 7)
	b.Count([]byte("cubin"), MissCounter(Checksum), 2)
	b.CountRefused([]byte("cubin"), NoSpace)
	a.Flush()
	b.Flush()
	b.Flush()
	u := open(t, dir(a.Root())).Usage()
	c := u.Kinds["cubin"]
	if c[Compiles] != 3 || c[HitsDisk] != 1 || c[TimeSaved] != 5 || c[MissCounter(Checksum)] != 2 || c.Misses() != 2 ||
		c[RefusedCounter(NoSpace)] != 1 || u.Kinds["native"][HitsDisk] != 1 {
		t.Errorf("%v", u.Kinds)
	}
	if u.Refused != NoSpace || u.RefusedAt == 0 {
		t.Errorf("last refusal %v at %d", u.Refused, u.RefusedAt)
	}
	if err := a.Zero(context.Background()); err != nil {
		t.Fatal(err)
	}
	if u := open(t, dir(a.Root())).Usage(); len(u.Kinds) != 0 || u.Zeroed == 0 {
		t.Errorf("after zero: %v", u)
	}
}

func TestManyKindsShareTheLastSlot(t *testing.T) {
	s := open(t)
	for i := range 30 {
		s.Count(fmt.Appendf(nil, "kind-%d", i), Puts, 1)
	}
	s.Flush()
	u := open(t, dir(s.Root())).Usage()
	if len(u.Kinds) != maxKinds || u.Kinds[otherKind][Puts] != 30-maxKinds+1 {
		t.Errorf("%d kinds, other %d", len(u.Kinds), u.Kinds[otherKind][Puts])
	}
}

func TestCountersSurviveManyThreads(t *testing.T) {
	s := open(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 1000 {
				s.CountHit([]byte("generic"), 1)
			}
			s.Flush()
		})
	}
	wg.Wait()
	s.Flush()
	if u := open(t, dir(s.Root())).Usage(); u.Kinds["generic"][HitsDisk] != 8000 {
		t.Errorf("%d hits", u.Kinds["generic"][HitsDisk])
	}
}

var elfPayload = append([]byte("\x7fELF"), bytes.Repeat([]byte("code"), 100)...)

func pin(t *testing.T, s *Store, b *blob.Blob) *Pin {
	t.Helper()
	p, err := NewPin(s, t.TempDir(), b)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Release)
	return p
}

func TestPinOpensWhateverBecomesOfTheEntry(t *testing.T) {
	for name, lose := range map[string]func(s *Store, k *key.Key){
		"nothing":  func(*Store, *key.Key) {},
		"removed":  func(s *Store, k *key.Key) { s.Remove(&k.ID) },
		"cleared":  func(s *Store, _ *key.Key) { s.Clear(context.Background(), "", nil) },
		"replaced": func(s *Store, k *key.Key) { s.Put(Item{Key: k, Payload: []byte("\x7fELF other"), Replace: true}) },
		"deleted":  func(s *Store, _ *key.Key) { os.RemoveAll(s.root) },
	} {
		for _, when := range []string{"before", "after"} {
			t.Run(name+" "+when, func(t *testing.T) {
				s := open(t)
				k := testKey(t, 1)
				put(t, s, k, elfPayload)
				b, _ := s.Get(&k.ID)
				defer b.Release()
				if when == "before" {
					lose(s, k)
				}
				p := pin(t, s, b)
				if when == "after" && name != "deleted" {
					lose(s, k)
				}
				got, err := os.ReadFile(p.Path)
				if err != nil || !bytes.HasPrefix(got, elfPayload) {
					t.Errorf("%d bytes, %v", len(got), err)
				}
			})
		}
	}
}

// File systems use the number of an inode again.
func TestPinIsNotAnotherFileWithTheNumberOfTheFirst(t *testing.T) {
	s := open(t)
	k := testKey(t, 1)
	put(t, s, k, elfPayload)
	b, _ := s.Get(&k.ID)
	defer b.Release()
	other := append([]byte("\x7fELF"), bytes.Repeat([]byte("next"), 100)...)
	w, why := s.Put(Item{Key: k, Payload: other, Replace: true})
	if why != None {
		t.Fatal(why)
	}
	b.SetFile(w.Dev, w.Ino) // as if the first had had the number of the second
	if got, err := os.ReadFile(pin(t, s, b).Path); err != nil || !bytes.HasPrefix(got, elfPayload) {
		t.Errorf("%.8q, %v", got, err)
	}
}

func TestPinOfTextIsThePayloadAlone(t *testing.T) {
	s := open(t)
	k := testKey(t, 1)
	put(t, s, k, []byte(".version 8.0\n"))
	b, _ := s.Get(&k.ID)
	defer b.Release()
	if got, err := os.ReadFile(pin(t, s, b).Path); err != nil || string(got) != ".version 8.0\n" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestPinOfElfCostsNoCopy(t *testing.T) {
	s := open(t)
	k := testKey(t, 1)
	put(t, s, k, elfPayload)
	b, _ := s.Get(&k.ID)
	defer b.Release()
	p := pin(t, s, b)
	x, err1 := os.Stat(p.Path)
	y, err2 := os.Stat(s.fileOf(k))
	if err1 != nil || err2 != nil || !os.SameFile(x, y) {
		t.Errorf("%s is not the entry's file: %v, %v", p.Path, err1, err2)
	}
	p.Release()
	if _, err := os.Stat(p.Path); err == nil {
		t.Error("released, and still there")
	}
}

func TestPinIsNeverLinkedWhereItCannotRun(t *testing.T) {
	for name, change := range map[string]func(*Store){
		"network": func(s *Store) { s.mount.Network = true },
		"noexec":  func(s *Store) { s.mount.NoExec = true },
	} {
		s := open(t)
		k := testKey(t, 1)
		put(t, s, k, elfPayload)
		b, _ := s.Get(&k.ID)
		change(s)
		if p := pin(t, s, b); strings.HasPrefix(p.Path, s.root) {
			t.Errorf("%s: %s", name, p.Path)
		}
		b.Release()
	}
}

func TestPathsAreNeverTheSameText(t *testing.T) {
	s := open(t)
	k := testKey(t, 1)
	put(t, s, k, elfPayload)
	b, _ := s.Get(&k.ID)
	defer b.Release()
	seen := map[string]bool{}
	for i := range 50 {
		var p *Pin
		var err error
		switch i % 3 {
		case 0:
			p, err = NewPin(s, t.TempDir(), b)
		case 1:
			p, err = NewPin(nil, t.TempDir(), b)
		case 2:
			p, err = NewPin(nil, "/does/not/exist", b) // memory
		}
		if err != nil {
			t.Fatal(err)
		}
		if seen[p.Path] {
			t.Fatalf("%s was given before", p.Path)
		}
		seen[p.Path] = true
		if got, err := os.ReadFile(p.Path); err != nil || !bytes.HasPrefix(got, elfPayload) {
			t.Errorf("%s: %d bytes, %v", p.Path, len(got), err)
		}
		p.Release()
	}
}
