package manifest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"jitcache/core/key"
	"jitcache/core/stamp"
)

// variant returns a list of one file with a payload.
func variant(t *testing.T, path, payload string) *List {
	t.Helper()
	return trusted(&List{Files: []File{read(t, path)}, Payload: []byte(payload)})
}

func stored(t *testing.T, s *Set) *Set {
	t.Helper()
	again, err := ParseSet(s.Append(nil))
	if err != nil {
		t.Fatal(err)
	}
	return again
}

func TestBranchesAreFoundInTurn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	s := &Set{}
	for i := range 5 {
		write(t, path, fmt.Sprint("branch ", i))
		if found := s.Find(); found.List != nil {
			t.Fatalf("branch %d is new, found %q", i, found.List.Payload)
		}
		s.Add(variant(t, path, fmt.Sprint(i)))
		s = stored(t, s)
	}
	for _, i := range []int{4, 0, 3, 3, 1} {
		write(t, path, fmt.Sprint("branch ", i))
		found := s.Find()
		if found.List == nil || string(found.List.Payload) != fmt.Sprint(i) {
			t.Fatalf("branch %d: found %v, %s", i, found.List, found.Why)
		}
		if again := s.Find(); again.List != found.List || again.Why != "" {
			t.Errorf("branch %d is not in front: %s", i, again.Why)
		}
		s = stored(t, s)
	}
	if s.Len() != 5 {
		t.Errorf("%d lists, want 5", s.Len())
	}
	write(t, path, "another branch")
	if found := s.Find(); found.List != nil || !strings.Contains(found.Why, path) {
		t.Errorf("found %v, why %q", found.List, found.Why)
	}
}

func TestSetIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	write(t, path, "x")
	s := &Set{}
	for i := range 2 * MaxLists {
		s.Add(variant(t, path, fmt.Sprint(i)))
	}
	if s.Len() != MaxLists {
		t.Errorf("%d lists, want %d", s.Len(), MaxLists)
	}
	for i := range 4 {
		s.Add(variant(t, path, strings.Repeat(fmt.Sprint(i), MaxBytes/3)))
	}
	if n := len(s.Append(nil)); s.Len() != 2 || n > MaxBytes {
		t.Errorf("%d lists in %d bytes", s.Len(), n)
	}
	if s.Add(variant(t, path, strings.Repeat("x", MaxBytes))) || s.Len() != 2 {
		t.Error("a list larger than a set was taken")
	}
}

func TestListOfTheSamePayloadIsReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	s := &Set{}
	for i := range 3 {
		write(t, path, fmt.Sprint(i))
		s.Add(variant(t, path, "same"))
	}
	if s.Len() != 1 || s.Find().List == nil {
		t.Errorf("%d lists", s.Len())
	}
}

func TestFreshStampsAreStaleUntilTheyAreTrusted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	write(t, path, "x")
	l := variant(t, path, "p")
	l.Files[0].Stamp.Read = 0 // read before it was written
	s := &Set{}
	s.Add(l)
	s = stored(t, s)
	if found := s.Find(); found.List == nil || found.List.Files[0].Stamp.Read == 0 {
		t.Fatalf("found %v", found)
	}
	again := stored(t, s)
	if found := again.Find(); found.List == nil || found.List.Files[0].Stamp.Read == 0 {
		t.Error("the new stamps were not stored")
	}
}

func TestMalformedListIsDropped(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	write(t, path, "x")
	s := &Set{}
	s.Add(variant(t, path, "good"))
	s.Add(variant(t, path, "bad"))
	data := s.Append(nil)
	data[setHead+4] = 0xff // size of the payload of the first
	s, err := ParseSet(data)
	if err != nil {
		t.Fatal(err)
	}
	if found := s.Find(); found.List == nil || string(found.List.Payload) != "good" || s.Len() != 1 {
		t.Errorf("found %v of %d lists", found.List, s.Len())
	}
}

func TestListsSurviveTheirBytes(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		l := randomList(rng)
		again, err := ParseList(l.Append(nil))
		if err != nil || !reflect.DeepEqual(again, l) {
			t.Fatalf("%v\n%+v\n%+v", err, l, again)
		}
	}
}

func randomList(rng *rand.Rand) *List {
	path := func() string {
		p := ""
		for range 1 + rng.IntN(4) {
			p += "/" + strings.Repeat(string(rune('a'+rng.IntN(3))), 1+rng.IntN(5))
		}
		return p[rng.IntN(2):]
	}
	stampOf := func() stamp.Stamp {
		return stamp.Stamp{Dev: rng.Uint64(), Ino: rng.Uint64(), Size: rng.Uint64(), Mtime: rng.Int64(), Ctime: rng.Int64(), Read: rng.Int64(), Mount: rng.Uint64()}
	}
	l := &List{}
	for range rng.IntN(5) {
		l.Files = append(l.Files, File{path(), stampOf(), key.Sum([]byte(path()))})
		l.Folders = append(l.Folders, Folder{path(), stampOf(), key.Sum([]byte(path()))})
		l.Absent = append(l.Absent, path())
		l.Aliases = append(l.Aliases, Alias{path(), path()})
		l.Payload = append(l.Payload, path()...)
	}
	return l
}

// tests/golden/make_manifest.py has written the file from docs/format.md, with
// no code in common with this package.
func TestGoldenSet(t *testing.T) {
	data, err := os.ReadFile("../../tests/golden/manifest.jcbook")
	if err != nil {
		t.Fatal(err)
	}
	s, err := ParseSet(data)
	if err != nil || s.Len() != 2 {
		t.Fatal(err)
	}
	stampOf := func(n uint64) stamp.Stamp {
		s := int64(n)
		return stamp.Stamp{Dev: n, Ino: n + 1, Size: n + 2, Mtime: s + 3, Ctime: s + 4, Read: s + 5, Mount: n + 6}
	}
	digest := func(c byte) key.Digest { return key.Digest(bytes.Repeat([]byte{c}, 32)) }
	want := []*List{
		{
			Files: []File{
				{"inc/a.h", stampOf(100), digest(0xaa)},
				{"inc/sub/b.h", stampOf(1 << 40), digest(0xbb)},
				{"/usr/include/\xff.h", stampOf(7), digest(0xcc)},
			},
			Folders: []Folder{{"inc", stampOf(1000), digest(0xdd)}},
			Absent:  []string{"a.h", "a.h.stdh"},
			Aliases: []Alias{{"x/../inc", "inc"}},
			Payload: []byte("what the caller\x00wants"),
		},
		{},
	}
	for i, w := range want {
		got, err := s.members[i].open()
		if err != nil || !reflect.DeepEqual(got, w) {
			t.Errorf("list %d: %v\n%+v\nwant\n%+v", i, err, got, w)
		}
		s.members[i].bytes = nil
	}
	if !bytes.Equal(s.Append(nil), data) {
		t.Error("Append writes other bytes")
	}
}

func FuzzParse(f *testing.F) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 5 {
		s := &Set{}
		s.Add(randomList(rng))
		s.Add(randomList(rng))
		f.Add(s.Append(nil))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := ParseSet(data)
		if err != nil {
			return
		}
		for i := range s.members {
			l, err := ParseList(s.members[i].bytes)
			if err != nil {
				continue
			}
			again, err := ParseList(l.Append(nil))
			if err != nil || !reflect.DeepEqual(again, l) {
				t.Fatalf("%v\n%+v\n%+v", err, l, again)
			}
		}
	})
}
