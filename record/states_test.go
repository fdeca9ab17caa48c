// Many states of one request are all found, and no lookup reads more for it.

package record

import (
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"jitcache/core"
	"jitcache/core/key"
)

// shelf has notes of many keys in memory, counts what is read, and has the notes of a layer.
type shelf struct {
	mu    sync.Mutex
	notes map[key.ID][]byte
	layer map[key.ID][]byte
	reads int
	bytes int
}

func newShelf() *shelf { return &shelf{notes: map[key.ID][]byte{}} }

func (s *shelf) LoadNote(id *key.ID) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads++
	s.bytes += len(s.notes[*id])
	return s.notes[*id]
}

func (s *shelf) LayerNotes(id *key.ID) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		if data := s.layer[*id]; data != nil {
			yield(data)
		}
	}
}

func (s *shelf) SaveNote(k *key.Key, data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.notes[k.ID] = data
}

func (s *shelf) ShareNote(k *key.Key, data []byte) { s.SaveNote(k, data) }
func (s *shelf) UsedNote(*key.ID)                  {}
func (s *shelf) RestNote(_, _ *key.ID)             {}
func (s *shelf) LockNote(*key.ID) func()           { return func() {} }
func (s *shelf) Layered() bool                     { return s.layer != nil }

// states are worlds of one request, in a folder of files that they change.
type states struct {
	*world
	notes Notes
	key   *key.Key
	env   []string

	folder bool // the command asks for the folder that it runs in
	is     map[string]string
}

// set gives a file a content, if it has another.
func (s *states) set(name, text string) {
	if path := filepath.Join(s.dir, name); s.is[path] != text {
		s.put(name, text)
		s.is[path] = text
	}
}

func newStates(t *testing.T, notes Notes) *states {
	return &states{world: newWorld(t), notes: notes, key: key.Note("request", []byte(t.Name())), is: map[string]string{}}
}

func (s *states) now() *Surroundings {
	return &Surroundings{Dir: s.dir, Env: s.env, Notes: s.notes}
}

// list returns the list of a command that has read some files, and looked in vain for others, and whose
// result is called name.
func (s *states) list(name string, read []string, absent ...string) *List {
	s.t.Helper()
	payload := key.Sum([]byte(name))
	l := &List{Payload: payload[:], World: World{Rule: NamedVariables}}
	for _, path := range read {
		digest, stamp, err := contentOf(filepath.Join(s.dir, path))
		if err != nil {
			s.t.Fatal(err)
		}
		l.Files = append(l.Files, File{Path: path, Mode: 0o100644, Stamp: stamp, Digest: digest})
	}
	if s.folder {
		l.World.Dir = realDir(s.dir)
	}
	if len(absent) > 0 {
		l.Folders = []Folder{{Path: ".", Flags: Exists, Stamp: Stamp{Mount: noMount}, Absent: absent}}
	}
	return l
}

// found is the name of the result that a process of its own finds, "" for none.
func (s *states) found(names ...string) string {
	found := NewSetStore(s.key).Find(s.now())
	for _, name := range names {
		if payload := key.Sum([]byte(name)); found.List != nil && string(found.List.Payload) == string(payload[:]) {
			return name
		}
	}
	if found.List != nil {
		s.t.Fatal("found another result")
	}
	return ""
}

func (s *states) add(l *List) { NewSetStore(s.key).Add(l, s.now()) }

// kinds are ways in which states of one request differ. Each returns what the command reads, and what it
// looks for in vain, in the i-th state.
var kindsOfStates = map[string]func(s *states, i, n int) (read, absent []string){
	"one name with other contents": func(s *states, i, n int) ([]string, []string) {
		s.set("k.c", fmt.Sprint(i))
		return []string{"common.h", "k.c"}, nil
	},
	"each changes a file of its own": func(s *states, i, n int) (all []string, _ []string) {
		for j := range n {
			s.set(fmt.Sprintf("h%04d", j), fmt.Sprint(i == j))
			all = append(all, fmt.Sprintf("h%04d", j))
		}
		return all, nil
	},
	"each changes one file more": func(s *states, i, n int) (all []string, _ []string) {
		for j := range n {
			s.set(fmt.Sprintf("h%04d", j), fmt.Sprint(i >= j))
			all = append(all, fmt.Sprintf("h%04d", j))
		}
		return all, nil
	},
	"each reads a file of its own": func(s *states, i, n int) ([]string, []string) {
		s.set("k.c", fmt.Sprint(i))
		s.set(fmt.Sprint("own", i), "1")
		return []string{"common.h", "k.c", fmt.Sprint("own", i)}, nil
	},
	"a file appears in one of many places": func(s *states, i, n int) (read, absent []string) {
		for j := range n {
			path := fmt.Sprintf("p%04d", j)
			if os.Remove(filepath.Join(s.dir, path)); j == i {
				s.put(path, "found")
				return []string{"common.h", path}, absent
			}
			absent = append(absent, path)
		}
		return nil, nil
	},
	"folders": func(s *states, i, n int) ([]string, []string) {
		s.dir = filepath.Join(filepath.Dir(s.dir), fmt.Sprint("f", i))
		s.folder = true
		s.set("common.h", "common")
		s.set("main.c", "the same")
		return []string{"common.h", "main.c"}, nil
	},
}

//jitcache:control noquestions
func TestManyStatesOfOneRequestAreAllFound(t *testing.T) {
	for what, state := range kindsOfStates {
		t.Run(what, func(t *testing.T) {
			const n = 3 * MaxLists
			s := newStates(t, newShelf())
			s.put("common.h", "common")
			for i := range n {
				read, absent := state(s, i, n)
				s.add(s.list(fmt.Sprint(what, i), read, absent...))
			}
			for i := range n {
				state(s, i, n)
				if name := fmt.Sprint(what, i); s.found(name) != name {
					t.Errorf("state %d of %d is not found", i, n)
				}
			}
		})
	}
}

// A lookup reads the questions and the one set that can have a list of this world, and that again if it
// notes a new stamp.
//
//jitcache:control noquestions
func TestThousandStatesAreFoundAndALookupReadsNoMoreThanWithFew(t *testing.T) {
	s := newStates(t, newShelf())
	s.put("common.h", "common")
	cost := func() (reads, bytes int) {
		notes := s.notes.(*shelf)
		notes.reads, notes.bytes = 0, 0
		s.put("k.c", "7")
		if s.found("7") == "" {
			t.Fatal("not found")
		}
		return notes.reads, notes.bytes
	}
	var few int
	for i := range 1000 {
		s.put("k.c", fmt.Sprint(i))
		s.add(s.list(fmt.Sprint(i), []string{"common.h", "k.c"}))
		if i == MaxLists-1 {
			_, few = cost()
		}
	}
	if reads, bytes := cost(); reads > 3 || bytes > few {
		t.Errorf("%d notes with %d bytes are read; %d bytes with %d states", reads, bytes, few, MaxLists)
	}
	if found := s.countFound(1000); found != 1000 {
		t.Errorf("%d of 1000 states are found", found)
	}
}

// fill adds n states, whose file k.c differs.
func (s *states) fill(n int) {
	s.set("common.h", "common")
	for i := range n {
		s.set("k.c", fmt.Sprint(i))
		s.add(s.list(fmt.Sprint(i), []string{"common.h", "k.c"}))
	}
}

// countFound returns how many of n states are found.
func (s *states) countFound(n int) (found int) {
	for i := range n {
		s.set("k.c", fmt.Sprint(i))
		if s.found(fmt.Sprint(i)) != "" {
			found++
		}
	}
	return found
}

func TestReasonOfAMissIsWhatDiffersFromTheStateFiledLast(t *testing.T) {
	s := newStates(t, newShelf())
	s.fill(3 * MaxLists)
	s.set("k.c", "new")
	if why := NewSetStore(s.key).Find(s.now()).Why; why != "k.c: size changed" {
		t.Errorf("%q", why)
	}
}

// So most lists that do not hold cost little.
func TestFilesInTheCommandsFolderAreComparedFirst(t *testing.T) {
	s := newStates(t, newShelf())
	s.set("inc/a.h", "1")
	s.set("k.c", "1")
	l := s.list("1", []string{"inc/a.h", "k.c"})
	l.Files[0].Path = filepath.Join(s.dir, "inc/a.h")
	s.add(l)
	os.Remove(l.Files[0].Path)
	s.set("k.c", "2")
	if why := NewSetStore(s.key).Find(s.now()).Why; why != "k.c: content changed" {
		t.Errorf("%q", why)
	}
}

// A layer's questions may name anything. To open a pipe waits for a writer.
func TestQuestionsAboutOtherThingsThanFilesAreAnsweredAtOnce(t *testing.T) {
	s := newStates(t, nil)
	pipe := filepath.Join(s.dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	var all []Question
	for topic := FolderOfRun; topic <= TheLimits+1; topic++ {
		for _, name := range []string{pipe, s.dir, "/dev/tty", "/dev/zero", "/proc/kmsg", "none", "none/of/it"} {
			all = append(all, Question{About: topic, Name: name})
		}
	}
	done := make(chan bool)
	go func() { newAsker(s.now()).answersTo(all); close(done) }()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Error("waits for a pipe")
	}
}

// What is in the list holds although other states have been told apart by it meanwhile.
func TestFileThatAStateDoesNotReadDoesNotMatterToIt(t *testing.T) {
	s := newStates(t, newShelf())
	s.set("common.h", "common")
	for i := range 3 * MaxLists {
		s.set("k.c", fmt.Sprint(i))
		s.set("a.h", fmt.Sprint(i))
		s.add(s.list(fmt.Sprint(i), []string{"a.h", "common.h", "k.c"}[i%2:]))
	}
	for i := 1; i < 3*MaxLists; i += 2 {
		s.set("k.c", fmt.Sprint(i))
		s.set("a.h", "whatever")
		if s.found(fmt.Sprint(i)) == "" {
			t.Errorf("state %d, which does not read a.h, depends on it", i)
		}
	}
}

func TestDamagedSetsAreMisses(t *testing.T) {
	const n = 2 * MaxLists
	for what, spoil := range map[string]func([]byte) []byte{
		"none":     func([]byte) []byte { return nil },
		"empty":    func([]byte) []byte { return []byte{} },
		"cut":      func(b []byte) []byte { return b[:len(b)/2] },
		"longer":   func(b []byte) []byte { return append(b, 0) },
		"nonsense": func(b []byte) []byte { return []byte(strings.Repeat("x", len(b))) },
	} {
		t.Run(what, func(t *testing.T) {
			shelf := newShelf()
			s := newStates(t, shelf)
			s.fill(n)
			s.set("k.c", "3")
			below := s.list("3", []string{"k.c"})
			for id, data := range shelf.notes {
				if set, err := ParseSet(data); err == nil && len(set.Payloads()) == 1 && string(set.Payloads()[0]) == string(below.Payload) {
					shelf.notes[id] = spoil(data)
				}
			}
			if found := s.countFound(n); found != n-1 {
				t.Errorf("%d of %d states are found when one set is spoilt", found, n)
			}
			shelf.notes[s.key.ID] = spoil(shelf.notes[s.key.ID])
			if found := s.countFound(n); found != 0 {
				t.Errorf("%d states are found without questions", found)
			}
			s.fill(MaxLists + 1) // which asks the same question, and finds the sets again
			if found := s.countFound(n); found != n {
				t.Errorf("%d of %d states are found afterwards", found, n)
			}
		})
	}
}

func TestLayerWithOtherQuestionsIsFoundAndItsQuestionsAreKept(t *testing.T) {
	const n = 2 * MaxLists
	mine, theirs := newShelf(), newShelf()
	s := newStates(t, theirs)
	s.set("a.h", "1")
	s.fill(n)
	s.notes = mine
	s.set("k.c", "0")
	for i := range n { // our states differ in a.h
		s.set("a.h", fmt.Sprint("own", i))
		s.add(s.list(fmt.Sprint("own", i), []string{"a.h", "common.h"}))
	}
	mine.layer = theirs.notes
	s.set("a.h", "1")
	for round := range 2 {
		if found := s.countFound(n); found != n {
			t.Fatalf("%d of the layer's %d states are found in round %d", found, n, round)
		}
		mine.layer = map[key.ID][]byte{} // they were filed in ours, under the layer's questions
	}
	s.set("k.c", "0")
	for i := range n {
		s.set("a.h", fmt.Sprint("own", i))
		s.set("k.c", "none of the layer's")
		if name := fmt.Sprint("own", i); s.found(name) == "" {
			t.Errorf("our state %d is lost", i)
		}
	}
}

// Another has noted nothing since the first lookup found nothing, so the second compares nothing.
//
//jitcache:control norecheck
func TestSecondLookupComparesNothingIfNoNoteHasChanged(t *testing.T) {
	s := newStates(t, newShelf())
	s.fill(1)
	s.set("k.c", "new")
	store := NewSetStore(s.key)
	missed := store.Find(s.now())
	if missed.List != nil {
		t.Fatal("found")
	}
	s.set("k.c", "0") // a comparison would find it
	if found := store.FindNew(s.now(), &missed); found.List != nil || found.Why != missed.Why {
		t.Errorf("compared again: %+v", found)
	}
	s.set("k.c", "new")
	s.add(s.list("new", []string{"common.h", "k.c"})) // another process
	if found := store.FindNew(s.now(), &missed); found.List == nil {
		t.Errorf("what another has noted is not found: %s", found.Why)
	}
}

// ---- in a cache

func newCache(t *testing.T, dir string, values map[string]string) *core.Cache {
	t.Helper()
	all := map[string]string{"directory": dir, "memory_size": "0"}
	for name, value := range values {
		all[name] = value
	}
	c, err := core.Open(core.Options{Values: all})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// slow are notes of a cache that take a while to read, so that writers of one set meet.
type slow struct{ *core.Cache }

func (s slow) LoadNote(id *key.ID) []byte {
	data := s.Cache.LoadNote(id)
	time.Sleep(time.Millisecond)
	return data
}

//jitcache:control nosetlock
func TestListsThatAreFiledAtOnceAreAllFound(t *testing.T) {
	const writers, each = 4, 8
	dir := t.TempDir()
	s := newStates(t, nil)
	s.set("common.h", "common")
	var lists [writers][each]*List
	for i := range writers * each {
		s.set("k.c", fmt.Sprint(i))
		lists[i%writers][i/writers] = s.list(fmt.Sprint(i), []string{"common.h", "k.c"})
	}
	var all sync.WaitGroup
	for i := range writers {
		c := newCache(t, dir, nil)
		all.Go(func() {
			for _, l := range lists[i] {
				NewSetStore(s.key).Add(l, &Surroundings{Dir: s.dir, Notes: slow{c}})
			}
		})
	}
	all.Wait()
	s.notes = newCache(t, dir, nil)
	if found := s.countFound(writers * each); found != writers*each {
		t.Errorf("%d of %d states are found", found, writers*each)
	}
}

// The cap is reached while states are filed. Those that were used last stay.
func TestStatesThatWereUsedLastStayWhenTheCacheIsFull(t *testing.T) {
	const n, capacity = 250, 100 << 10
	s := newStates(t, newCache(t, t.TempDir(), map[string]string{"max_size": fmt.Sprint(capacity)}))
	s.fill(MaxLists)
	used := func() {
		s.set("k.c", "0")
		if s.found("0") == "" {
			t.Fatal("the state that is used all the time is evicted")
		}
	}
	for i := range n {
		if i%20 == 0 {
			used()
		}
		s.set("k.c", fmt.Sprint(i))
		s.add(s.list(fmt.Sprint(i), []string{"common.h", "k.c"}))
		time.Sleep(time.Millisecond / 4) // recency is a time
	}
	used()
	for i := n - 50; i < n; i++ {
		s.set("k.c", fmt.Sprint(i))
		if s.found(fmt.Sprint(i)) == "" {
			t.Errorf("state %d of %d is evicted", i, n)
		}
	}
	s.notes.(*core.Cache).Flush()
	st, _ := s.notes.(*core.Cache).Store()
	size := int64(0)
	filepath.Walk(st.Root(), func(_ string, info os.FileInfo, err error) error {
		if err == nil && strings.HasSuffix(info.Name(), ".jce") {
			size += info.Size()
		}
		return nil
	})
	if size > capacity || size < capacity/2 {
		t.Errorf("%d bytes, of %d", size, capacity)
	}
}
