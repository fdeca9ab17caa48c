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

// ---- filing

// file files a list in the notes. The set at from has it; nil: it is new, and shared.
func (s *SetStore) file(l *List, from *key.ID, notes Notes) {
	f := filing{store: s, notes: notes, shares: from == nil}
	defer f.lock()()
	f.add(s.key, key.ID{}, l, from, 0)
}

// restamp notes a list with the stamps that were found, in the set that has it.
func (s *SetStore) restamp(l *List, at *key.ID, notes Notes) {
	f := filing{store: s, notes: notes}
	defer f.lock()()
	k := s.key
	if *at != k.ID {
		k = key.FromID(*at)
		k.Kind = key.NoteKind
	}
	if set := f.open(at, key.ID{}); set.replace(l) {
		f.save(k, set, false)
	} else { // the note was evicted
		f.add(s.key, key.ID{}, l, at, 0)
	}
}

// adopt adds the generations of first sets in layers to our own. Then a remote is asked for what is below
// them at once, and those who have that layer find what we file.
func (s *SetStore) adopt(theirs []generation, notes Notes) {
	n := s.known[s.key.ID]
	if len(theirs) == 0 || n != nil && !n.set.clone().adopt(theirs) {
		return
	}
	f := filing{store: s, notes: notes}
	defer f.lock()()
	if set := f.open(&s.key.ID, key.ID{}); set.adopt(theirs) {
		f.save(s.key, set, false)
	}
}

// filing changes the sets of a request. Nobody else changes them meanwhile.
type filing struct {
	store  *SetStore
	notes  Notes // nil: only this process knows the sets
	shares bool
}

func (f *filing) lock() (unlock func()) {
	if f.notes == nil || !locksSets {
		return func() {}
	}
	return f.notes.LockNote(&f.store.key.ID)
}

// open returns the set at a key as it is noted now, or an empty one.
func (f *filing) open(id *key.ID, parent key.ID) *Set {
	if f.notes != nil {
		if set, err := ParseSet(f.notes.LoadNote(id)); err == nil {
			return set
		}
	} else if n := f.store.known[*id]; n != nil {
		return n.set
	}
	return &Set{Parent: parent}
}

// save notes a set. isNew says that something in it is of use to other machines.
func (f *filing) save(k *key.Key, set *Set, isNew bool) {
	data := set.Append(nil)
	f.store.saved++
	f.store.remember(&k.ID, set, data)
	switch {
	case f.notes == nil:
		return
	case f.shares && isNew:
		f.notes.ShareNote(k, data)
	default:
		f.notes.SaveNote(k, data)
	}
	f.notes.UsedNote(&k.ID)
}

// add adds a list to the set at a key, or to one below it. The set at from has it; nil: it is new.
func (f *filing) add(k *key.Key, parent key.ID, l *List, from *key.ID, depth int) {
	set := f.open(&k.ID, parent)
	if f.notes != nil && from != nil {
		f.notes.RestNote(&k.ID, from)
	}
	if filed, changed := f.addBelow(k, set, l, from, depth); filed {
		if set.remove(l) || changed {
			f.save(k, set, false)
		}
		return
	}
	if !set.hasRoom(l) && depth < deepest && asksQuestions {
		if questions := tellApart(append([]*List{l}, set.lists()...)); len(questions) > 0 {
			f.divide(k, set, questions, depth)
			f.addBelow(k, set, l, from, depth)
			f.save(k, set, true)
			return
		}
	}
	if set.Add(l) {
		f.save(k, set, true)
	}
}

// addBelow adds a list below the newest generation of a set whose questions it answers. It reports
// whether there is one, and whether the set has changed.
func (f *filing) addBelow(k *key.Key, set *Set, l *List, from *key.ID, depth int) (filed, changed bool) {
	for i := range set.generations {
		g := &set.generations[i]
		answers := l.answersTo(g.questions)
		if answers == nil {
			continue
		}
		below := setBelow(&k.ID, g.questions, answers)
		f.add(below, k.ID, l, from, depth+1)
		changed = g.last != below.ID
		g.last = below.ID
		return true, changed
	}
	return false, false
}

// divide begins a generation, and moves the lists that answer its questions to sets below.
func (f *filing) divide(k *key.Key, set *Set, questions []Question, depth int) {
	set.ask(questions)
	var stay []member
	for i, l := range slices.Backward(set.lists()) { // the newest comes last, and so is in front
		if filed, _ := f.addBelow(k, set, l, &k.ID, depth); !filed {
			stay = append(stay, set.members[i])
		}
	}
	slices.Reverse(stay)
	set.members = stay
}
