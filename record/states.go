// SetStore: finds, among all sets of a request, a list that is unchanged.

package record

import (
	"bytes"
	"slices"

	"jitcache/core/key"
)

// The lists of a request are in sets, which are notes. The first set has the key of the request.
// When a set is full, questions are chosen that tell its lists apart. They stay in the set, and the
// lists move to sets below it, whose keys are hashes of the questions and the answers. So a lookup
// with a thousand lists reads the questions, asks the world, and reads the one set that can have a
// list of this world.
//
// Questions only choose which lists are compared. A hit always needs the whole check of a list, and
// a list is only filed under questions that it answers itself. So no question makes a list hold that
// would not, or fail that would hold.

// deepest bounds how many sets are below each other. States of which each differs from all others in
// a file of its own fill a set of seven for each level.
const deepest = 8

// mostSets bounds the sets of a request that a process remembers: lists take 50 kB each.
const mostSets = 16

// SetStore has the sets of a request: those that this process remembers, and those that are noted for
// all. It is for one goroutine.
type SetStore struct {
	key   *key.Key
	known map[key.ID]*knownSet
	saved int // how often this process has changed a set
}

// knownSet is a set, and its bytes as they were read or written last.
type knownSet struct {
	set  *Set
	data []byte
}

// NewSetStore returns a store whose first set is noted under a key.
func NewSetStore(k *key.Key) *SetStore {
	return &SetStore{key: k, known: map[key.ID]*knownSet{}}
}

// Found is what Find has found.
type Found struct {
	List *List // nil: none
	// Why says why the newest list of the nearest set does not apply; empty if no list is known.
	Why string

	at    *key.ID           // the set that has the list
	stale bool              // stamps in it were out of date
	moves bool              // it belongs under a newer generation
	read  map[key.ID][]byte // if there is no list: the notes that were read, and SetStore.saved
	saved int
}

// Find returns a list that is unchanged: of the sets that this process remembers, else of those in
// the notes, to which other processes may have added, else of those in layers. It notes stamps that
// were out of date, what it has found in a layer, and the questions of layers.
func (s *SetStore) Find(now *Surroundings) Found {
	w := &walk{store: s, now: now, asker: newAsker(now), read: map[key.ID][]byte{}, theirs: map[key.ID][]generation{}}
	found := w.find(&s.key.ID, s.remembered, 0)
	if now.Notes == nil {
		return found
	}
	if found.List == nil {
		found = w.find(&s.key.ID, w.fromNotes, 0)
	}
	brought := false
	if found.List == nil {
		found = w.findInLayers(&s.key.ID, 0)
		brought = found.List != nil
		s.adopt(w.theirs[s.key.ID], now.Notes)
	}
	switch {
	case brought || found.moves:
		s.file(found.List, found.at, now.Notes)
	case found.stale:
		s.restamp(found.List, found.at, now.Notes)
	case found.List == nil:
		found = Found{Why: w.nearest(), read: w.read, saved: s.saved}
	}
	return found
}

// FindNew is Find again, after one that found nothing. It compares nothing if no note has changed since.
func (s *SetStore) FindNew(now *Surroundings, before *Found) Found {
	if before == nil || before.read == nil || before.saved != s.saved || now.Notes.Layered() || !skipsUnchanged {
		return s.Find(now)
	}
	for id, data := range before.read {
		if !bytes.Equal(now.Notes.LoadNote(&id), data) {
			return s.Find(now)
		}
	}
	return *before
}

// Add files a list, and notes it for all, if it is not too large.
func (s *SetStore) Add(l *List, now *Surroundings) { s.file(l, nil, now.Notes) }

// ---- looking up

// walk is one lookup.
type walk struct {
	store *SetStore
	now   *Surroundings
	asker *asker
	why   string  // why the first list that was compared does not hold
	near  *key.ID // the set below the newest generation in which a list was filed last

	read   map[key.ID][]byte       // the notes that were read
	theirs map[key.ID][]generation // the generations of sets in layers
}

// find looks for a list in a set and in those below it. get returns a set, nil if there is none, and
// whether its own lists may hold.
func (w *walk) find(id *key.ID, get func(id *key.ID) (*Set, bool), depth int) Found {
	set, mayHold := get(id)
	if set == nil || depth > deepest {
		return Found{Why: w.why}
	}
	for i := range set.generations {
		g := &set.generations[i]
		if w.near == nil {
			w.near = &g.last
		}
		below := setBelow(id, g.questions, w.asker.answersTo(g.questions))
		if found := w.find(&below.ID, get, depth+1); found.List != nil {
			found.moves = found.moves || set.files(found.List, i)
			w.used(id)
			return found
		}
	}
	if !mayHold {
		return Found{Why: w.why}
	}
	found := w.check(id, set)
	if found.List != nil {
		found.moves = set.files(found.List, len(set.generations))
		w.used(id)
	}
	return found
}

func (w *walk) used(id *key.ID) {
	if w.now.Notes != nil {
		w.now.Notes.UsedNote(id)
	}
}

// files reports whether a list belongs under a generation before the i-th.
func (s *Set) files(l *List, i int) bool {
	return slices.ContainsFunc(s.generations[:i], func(g generation) bool { return l.answersTo(g.questions) != nil })
}

// check returns the first list of a set that is unchanged, and moves it to the front. The List belongs
// to the set.
func (w *walk) check(id *key.ID, s *Set) Found {
	for i := 0; i < len(s.members); i++ {
		l, err := s.members[i].open()
		if err != nil {
			s.members = slices.Delete(s.members, i, i+1)
			i--
			continue
		}
		state, why := l.Check(w.now)
		if state == Changed {
			if w.why == "" {
				w.why = why
			}
			continue
		}
		m := member{list: l}
		if state == Unchanged {
			m.bytes = s.members[i].bytes
		}
		s.members = slices.Insert(slices.Delete(s.members, i, i+1), 0, m)
		return Found{List: l, at: id, stale: state == Restamped}
	}
	return Found{Why: w.why}
}

// nearest returns why no list holds. If none was compared, since no set has the answers of this world,
// the one that was filed last is.
func (w *walk) nearest() string {
	if w.why != "" || w.near == nil {
		return w.why
	}
	if set, _ := w.fromNotes(w.near); set != nil {
		for _, l := range set.lists() {
			_, w.why = l.Check(w.now)
			break
		}
	}
	return w.why
}

// remembered returns a set that this process remembers.
func (s *SetStore) remembered(id *key.ID) (*Set, bool) {
	if n := s.known[*id]; n != nil {
		return n.set, true
	}
	return nil, false
}

// fromNotes returns a set as it is noted now. Its lists were compared if it is as remembered.
func (w *walk) fromNotes(id *key.ID) (*Set, bool) {
	s := w.store
	data := w.now.Notes.LoadNote(id)
	w.read[*id] = data
	if n := s.known[*id]; n != nil && data != nil && bytes.Equal(n.data, data) {
		return n.set, false
	}
	set, err := ParseSet(data)
	if err != nil {
		return nil, false
	}
	s.remember(id, set, data)
	return set, true
}

func (s *SetStore) remember(id *key.ID, set *Set, data []byte) {
	if len(s.known) >= mostSets && s.known[*id] == nil {
		clear(s.known)
	}
	s.known[*id] = &knownSet{set, data}
}

// findInLayers is find in the sets of layers, whose questions may be others. What is below is looked for
// by our own questions first: if they are the same, a remote is asked once and not twice.
func (w *walk) findInLayers(id *key.ID, depth int) Found {
	if depth > deepest {
		return Found{}
	}
	tried := map[key.ID]bool{}
	below := func(generations []generation) Found {
		for i := range generations {
			g := &generations[i]
			child := setBelow(id, g.questions, w.asker.answersTo(g.questions))
			if tried[child.ID] {
				continue
			}
			tried[child.ID] = true
			if found := w.findInLayers(&child.ID, depth+1); found.List != nil {
				return found
			}
		}
		return Found{}
	}
	if n := w.store.known[*id]; n != nil {
		if found := below(n.set.generations); found.List != nil {
			return found
		}
	}
	for data := range w.now.Notes.LayerNotes(id) {
		set, err := ParseSet(data)
		if err != nil {
			continue
		}
		w.theirs[*id] = append(w.theirs[*id], set.generations...)
		if found := below(set.generations); found.List != nil {
			return found
		}
		if found := w.check(id, set); found.List != nil {
			w.used(id)
			return found
		}
	}
	return Found{}
}
