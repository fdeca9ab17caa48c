// Lists, sets and the loader's cache from any bytes.

package record

import (
	"bytes"
	"testing"

	"jitcache/core/key"
)

// sample is a list with something of everything in it.
func sample() *List {
	stamp := func(n uint64) Stamp {
		return Stamp{Dev: 2049, Ino: n, Size: 10 * n, Mtime: 1_700_000_000_123_456_789, Ctime: 1_700_000_000_223_456_789, Read: 1_700_000_100_000_000_000}
	}
	image := stamp(4)
	image.Mount = 0x1234567890abcdef
	return &List{
		Files: []File{
			{Path: "/etc/ld.so.cache", Mode: 0o100644, Flags: Loader, Stamp: stamp(1), Digest: key.Sum([]byte("cache"))},
			{Path: "/usr/bin/gcc", Mode: 0o100755, Flags: Plain, Stamp: stamp(2), Digest: key.Sum([]byte("gcc"))},
			{Path: "/usr/bin/gcc-\xff", Mode: 0o100755, Flags: Dated | Twin, Stamp: stamp(3), Digest: key.Sum([]byte("same"))},
			{Path: "inc/b.h", Mode: 0o100600, Flags: Twin | Owned, Stamp: image, Digest: key.Sum([]byte("same")), Owner: 1000<<32 | 100},
		},
		Folders: []Folder{
			{Path: "/usr/include", Flags: Exists | NoLink | Listed, Stamp: stamp(5), Absent: []string{"a.h", "b.h"}, Names: key.Sum([]byte("names")), Except: []string{"made"}},
			{Path: "inc", Stamp: Stamp{Mount: noMount}, Absent: []string{"c.h"}},
		},
		Links:    []Link{{"/usr/bin/cc", "gcc"}, {"/usr/bin/ld", "x86_64-linux-gnu-ld"}},
		Failures: []Failure{{"/closed/secret", 13}},
		Kinds: []Kind{
			{Path: "/closed", Mode: 0o040700, Flags: Permissions},
			{Path: "/dev/null", Mode: 0o020000, Flags: Numbered, Device: 1<<32 | 3},
			{Path: "inc/pipe", Mode: 0o010644, Flags: Permissions | DatedToo | OwnedToo, Mtime: 1_700_000_000_123_456_789, Owner: 1000<<32 | 100},
		},
		Permits: []Permit{{"/closed", 10, 13}, {"inc", 2, 0}},
		World: World{
			Dir: "/home/user", Rule: KnownVariables, Also: []string{"PWD"},
			Variables: []Variable{{"CPATH", [16]byte{1}}, {"PATH", [16]byte{2}}},
			CPU:       key.Sum([]byte("cpu")), Limits: key.Sum([]byte("limits")), Asked: 1<<3 | 1<<7,
		},
		Payload: bytes.Repeat([]byte{7}, 32),
	}
}

// FuzzParse: whatever Parse takes is what Append writes.
func FuzzParse(f *testing.F) {
	f.Add(sample().Append(nil))
	f.Add((&List{}).Append(nil))
	f.Add([]byte(listMagic))
	f.Fuzz(func(t *testing.T, b []byte) {
		l, err := Parse(b)
		if err != nil {
			return
		}
		again, err := Parse(l.Append(nil))
		if err != nil || !bytes.Equal(again.Append(nil), l.Append(nil)) {
			t.Fatalf("%v", err)
		}
		l.Parts()
		l.Check(&Surroundings{Dir: "/nowhere"})
	})
}

// FuzzParseSet: the same of sets, and a list that is malformed is dropped.
func FuzzParseSet(f *testing.F) {
	s := &Set{}
	s.Add(sample())
	s.Add(&List{})
	f.Add(s.Append(nil))
	s.ask([]Question{{About: ContentOf, Name: "a.c"}, {About: TheLimits, Name: "8"}})
	f.Add(s.Append(nil))
	f.Add([]byte(setMagic))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := ParseSet(b)
		if err != nil {
			return
		}
		if !bytes.Equal(s.Append(nil), b) {
			t.Fatal("another set")
		}
		for _, g := range s.generations {
			newAsker(&Surroundings{Dir: "/nowhere"}).answersTo(g.questions)
		}
		(&walk{now: &Surroundings{Dir: "/nowhere"}}).check(&key.ID{}, s)
		s.Add(sample())
		if again, err := ParseSet(s.Append(nil)); err != nil || again.Len() == 0 {
			t.Fatalf("%v", err)
		}
	})
}

// FuzzLoaderSays: a cache of the loader may be anything.
func FuzzLoaderSays(f *testing.F) {
	f.Add([]byte("ld.so-1.7.0\x00" + loaderMagic))
	f.Add(append([]byte(loaderMagic+"\x01\x00\x00\x00"), make([]byte, 80)...))
	f.Fuzz(func(t *testing.T, b []byte) {
		if loaderSays(b, map[string]bool{"": true, "libc.so.6": true}) == (key.Digest{}) {
			t.Fatal("no digest")
		}
	})
}
