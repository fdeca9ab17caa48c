package record

import (
	"bytes"
	"os"
	"testing"
)

// tests/golden/make_lists.py has written the file from docs/format.md.
func TestListsAreThoseOfTheDocument(t *testing.T) {
	data, err := os.ReadFile("../tests/golden/lists.jcset")
	if err != nil {
		t.Fatal(err)
	}
	s := &Set{}
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
	for i, want := range []*List{sample(), {}} {
		if l, err := read.members[i].open(); err != nil || !l.Equal(want) {
			t.Errorf("list %d: %+v, %v", i, l, err)
		}
	}
}
