// How executables are searched for the texts that identify them.

package record

import (
	"strings"
	"testing"

	"jitcache/core/key"
	"jitcache/core/request"
)

//jitcache:control nomarkernotes
func TestKindOfALargeProgramIsNotedByItsStamp(t *testing.T) {
	w, noted := newWorld(t), &notes{}
	content := "\x7fELF" + strings.Repeat("x", large)
	another := func() bool { // another process
		found = request.NewTable[sought, bool](1)
		return has(w.dir+"/program", "MARKER", noted)
	}
	w.put("program", content+"MARKER")
	if !another() || noted.data != nil {
		t.Error("noted by a stamp that proves nothing, or not found")
	}
	settle()
	if !another() {
		t.Error("not found")
	}
	if len(noted.data) != 1 || noted.data[0] != 1 {
		t.Fatalf("noted: %q", noted.data)
	}
	noted.data = []byte{0}
	if another() {
		t.Error("the file was read again")
	}
	noted.data = []byte("what?")
	if !another() {
		t.Error("a note that says nothing was believed")
	}
}

func TestProgramThatHasChangedIsSearchedAgain(t *testing.T) {
	w := newWorld(t)
	noted := &notesByKey{}
	content := "\x7fELF" + strings.Repeat("x", large)
	for _, text := range []string{"MARKER", "REMARK", "MARKER"} {
		w.put("program", content+text)
		settle()
		for range 2 {
			found = request.NewTable[sought, bool](1)
			if is := has(w.dir+"/program", "MARKER", noted); is != (text == "MARKER") {
				t.Errorf("%s: %v", text, is)
			}
		}
	}
	if len(noted.data) != 3 {
		t.Errorf("%d notes", len(noted.data))
	}
}

// notesByKey are notes in memory.
type notesByKey struct {
	notes
	data map[key.ID][]byte
}

func (n *notesByKey) LoadNote(id *key.ID) []byte { return n.data[*id] }
func (n *notesByKey) SaveNote(k *key.Key, data []byte) {
	if n.data == nil {
		n.data = map[key.ID][]byte{}
	}
	n.data[k.ID] = data
}
