// A pinned path opens the verified bytes, whatever becomes of the entry.

package store

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"jitcache/core/blob"
	"jitcache/core/key"
)

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

// File systems reuse inode numbers.
//
//jitcache:control nopinned
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
	b.SetFile(w.Dev, w.Ino) // as if the first file had had the inode number of the second
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

// Releasing a pin removes its path, and nothing behind a link that another user has put
// into the path.
func TestPinIsNotRemovedThroughALink(t *testing.T) {
	for _, openat2 := range []bool{true, false} {
		for name, data := range map[string][]byte{"linked": elfPayload, "copied": []byte("text")} {
			s := open(t)
			k := testKey(t, 1)
			put(t, s, k, data)
			b, _ := s.Get(&k.ID)
			p, err := NewPin(s, t.TempDir(), b)
			if err != nil {
				t.Fatal(err)
			}
			b.Release()
			folder, other := filepath.Dir(p.Path), t.TempDir()
			victim := filepath.Join(other, filepath.Base(p.Path))
			if err := os.WriteFile(victim, []byte("another's"), 0o600); err != nil {
				t.Fatal(err)
			}
			os.Rename(folder, folder+"-moved")
			os.Symlink(other, folder)
			haveOpenat2.Store(openat2)
			p.Release()
			haveOpenat2.Store(true)
			if _, err := os.Stat(victim); err != nil {
				t.Errorf("%s, openat2 %v: %v", name, openat2, err)
			}
		}
	}
}
