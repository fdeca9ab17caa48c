// Files lists in the sets of a request, under the lock that all who change these take.

package record

import (
	"slices"

	"jitcache/core/key"
)

// Lists are filed in the sets of a request while nobody else changes these.

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
