// A new stamp leaves what others have noted.

package record

import (
	"iter"
	"os"
	"testing"
	"time"

	"jitcache/core/key"
)

// notes are those of one key, in memory.
type notes struct{ data []byte }

func (n *notes) LoadNote(*key.ID) []byte             { return n.data }
func (n *notes) LayerNotes(*key.ID) iter.Seq[[]byte] { return func(func([]byte) bool) {} }
func (n *notes) SaveNote(_ *key.Key, data []byte)    { n.data = data }
func (n *notes) ShareNote(_ *key.Key, data []byte)   { n.data = data }
func (n *notes) UsedNote(*key.ID)                    {}
func (n *notes) RestNote(_, _ *key.ID)               {}
func (n *notes) LockNote(*key.ID) func()             { return func() {} }
func (n *notes) Layered() bool                       { return false }

// date gives a file a time of its own, so that its stamp differs by the change alone.
func (w *world) date(path string) {
	then := time.Unix(1_700_000_000, 0)
	if err := os.Chtimes(path, then, then); err != nil {
		w.t.Fatal(err)
	}
}

// One process notes a new stamp, after another has noted a list of another world.
func TestNewStampLeavesWhatOthersHaveNoted(t *testing.T) {
	w, k := newWorld(t), &key.Key{}
	noted := &notes{}
	now := func() *Surroundings {
		s := w.surroundings()
		s.Notes = noted
		return s
	}
	read := func(text string) *List {
		t.Helper()
		w.date(w.put("a", text))
		l, err := w.run("cat", "a")
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	mine, theirs := NewSetStore(k), NewSetStore(k)
	mine.Add(read("one"), now())
	theirs.Add(read("two"), now())
	w.date(w.put("a", "one"))
	if found := mine.Find(now()); found.List == nil || !found.stale {
		t.Fatalf("%+v: want a list with a stamp that is out of date", found)
	}
	set, err := ParseSet(noted.data)
	if err != nil {
		t.Fatal(err)
	}
	if n := set.Len(); n != 2 {
		t.Fatalf("%d lists, want both", n)
	}
}
