// Lists are those of docs/format.md.

package record

import (
	"bytes"
	"os"
	"reflect"
	"testing"

	"jitcache/core/key"
)

// tests/golden/make_lists.py has written the file from docs/format.md.
func TestListsAreThoseOfTheDocument(t *testing.T) {
	data, err := os.ReadFile("../tests/golden/lists.jcset")
	if err != nil {
		t.Fatal(err)
	}
	s := &Set{Parent: key.ID(bytes.Repeat([]byte{5}, 32))}
	questions := []Question{
		{ContentOf, "inc/b.h", ""}, {ValueOf, "CPATH", ""}, {NamesIn, "/usr/include", "made/more"}, {About: FolderOfRun}, {TheLimits, "136", ""},
	}
	s.ask(questions[:1])
	s.ask(questions)
	s.generations[0].last = key.ID(bytes.Repeat([]byte{6}, 32))
	if !s.Add(&List{}) || !s.Add(sample()) {
		t.Fatal("too large")
	}
	if !bytes.Equal(s.Append(nil), data) {
		t.Errorf("written otherwise:\n%x\n%x", s.Append(nil), data)
	}
	read, err := ParseSet(data)
	if err != nil || read.Len() != 2 {
		t.Fatalf("%d lists, %v", read.Len(), err)
	}
	if read.Parent != s.Parent || !reflect.DeepEqual(read.generations, s.generations) {
		t.Errorf("%+v", read.generations)
	}
	below, err := os.ReadFile("../tests/golden/lists.below")
	if err != nil {
		t.Fatal(err)
	}
	says := func(text string) string { d := key.Sum([]byte(text)); return string(d[:]) }
	got := setBelow(&s.Parent, questions, []string{says("same"), isUnset, says("names"), "/home/user", says("limits")})
	if got.ID.String()+"\n" != string(below) {
		t.Errorf("the set below has the key %s", got.ID)
	}
	for i, want := range []*List{sample(), {}} {
		if l, err := read.members[i].open(); err != nil || !l.Equal(want) {
			t.Errorf("list %d: %+v, %v", i, l, err)
		}
	}
}
