// Set: the last few lists of a request, and the questions that lead to further sets.

package record

import (
	"encoding/binary"
	"errors"
	"slices"

	"jitcache/core/key"
)

// Bounds of a set. A list of 79 files and 207 absent names takes 12 kB, one of 1,000
// headers that were found in forty folders 300 kB.
const (
	MaxLists = 8
	MaxBytes = 4 << 20
	// MaxList is the size of a list that a set can have.
	MaxList = MaxBytes - 1024
	// MaxGenerations is how many kinds of sets a set has below it. A lookup may try all.
	MaxGenerations = 4
)

// A set as bytes: docs/format.md, "Lists".
const setMagic = "jcset\x00\x00\x03"

var errSet = errors.New("set of lists: malformed")

// Set holds the last few lists of one request, newest first, because the branches of a
// project take turns. Once it is full, it says which questions tell its lists apart, and they
// move to further sets, one for each combination of answers. The zero Set is empty. A Set is
// for one goroutine.
type Set struct {
	// Parent is the key of the set that led here, zero for that of the request itself.
	Parent      key.ID
	generations []generation // newest first
	members     []member     // newest first
}

// generation is what was asked since a set was full: each combination of answers has a set.
type generation struct {
	questions []Question
	last      key.ID // the set in which a list was filed last
}

// member is a list, as bytes until somebody asks for it.
type member struct {
	bytes []byte
	list  *List
}

// ParseSet reads what Append wrote. The Set refers to b. The lists are parsed when
// somebody asks for them; one that is malformed is dropped then.
func ParseSet(b []byte) (*Set, error) {
	if len(b) < len(setMagic) || string(b[:len(setMagic)]) != setMagic || len(b) > MaxBytes {
		return nil, errSet
	}
	d := listDecoder{b: b[len(setMagic):]}
	s := &Set{Parent: key.ID(d.digest())}
	s.generations = make([]generation, d.count(len(key.ID{})+1))
	for i := range s.generations {
		g := &s.generations[i]
		g.last = key.ID(d.digest())
		g.questions = make([]Question, d.count(3))
		for j := range g.questions {
			g.questions[j] = Question{Topic(d.number()), d.text(), d.text()}
		}
	}
	s.members = make([]member, d.count(1))
	for i := range s.members {
		s.members[i].bytes = slices.Clip(d.take(d.number()))
	}
	if d.bad || len(d.b) != 0 || len(s.members) > MaxLists || !soundGenerations(s.generations) {
		return nil, errSet
	}
	return s, nil
}

// soundGenerations reports whether questions can be asked as they are.
func soundGenerations(all []generation) bool {
	for i := range all {
		if len(all[i].questions) == 0 || len(all[i].questions) > mostQuestions {
			return false
		}
		for _, q := range all[i].questions {
			if onPath := q.About == ContentOf || q.About == TextOf || q.About == NamesIn; onPath && !soundPath(q.Name) {
				return false
			}
		}
	}
	return len(all) <= MaxGenerations
}

// Append appends the set as bytes.
func (s *Set) Append(dst []byte) []byte {
	e := encoder{b: append(append(dst, setMagic...), s.Parent[:]...)}
	e.number(uint64(len(s.generations)))
	for i := range s.generations {
		g := &s.generations[i]
		e.b = append(e.b, g.last[:]...)
		e.number(uint64(len(g.questions)))
		e.questions(g.questions)
	}
	e.number(uint64(len(s.members)))
	for i := range s.members {
		list := s.members[i].encoded()
		e.number(uint64(len(list)))
		e.b = append(e.b, list...)
	}
	return e.b
}

func (e *encoder) questions(all []Question) {
	for _, q := range all {
		e.number(uint64(q.About))
		e.text(q.Name)
		e.text(q.Except)
	}
}

// setBelow returns the key of the set for some answers to some questions of a set.
func setBelow(parent *key.ID, questions []Question, answers []string) *key.Key {
	var asked encoder
	asked.questions(questions)
	b := key.NewBuilder()
	b.Add("set", parent[:])
	b.Add("questions", asked.b)
	b.AddTexts("answers", answers)
	b.SetKind(key.NoteKind)
	k, err := b.Seal()
	if err != nil { // three labels, all plain
		panic(err)
	}
	// Without components: cache.Explain compares those of results.
	below := key.FromID(k.ID)
	below.Kind = k.Kind
	return below
}

// overhead is what a member takes beside its list, at most.
const overhead = binary.MaxVarintLen64

// head is the size of what comes before the lists, at most.
func (s *Set) head() int { return len((&Set{generations: s.generations}).Append(nil)) + overhead }

func (m *member) open() (*List, error) {
	var err error
	if m.list == nil {
		m.list, err = Parse(m.bytes)
	}
	return m.list, err
}

func (m *member) encoded() []byte {
	if m.bytes == nil {
		m.bytes = m.list.Append(nil)
	}
	return m.bytes
}

// lists returns the lists that can be read, newest first. It drops the others.
func (s *Set) lists() (all []*List) {
	s.members = slices.DeleteFunc(s.members, func(m member) bool {
		l, err := m.open()
		if err == nil {
			all = append(all, l)
		}
		return err != nil
	})
	return all
}

// Payloads returns the payloads of the lists that can be read.
func (s *Set) Payloads() (all [][]byte) {
	for _, l := range s.lists() {
		all = append(all, l.Payload)
	}
	return all
}

// Len returns the number of lists.
func (s *Set) Len() int { return len(s.members) }

// ---- changing a set

// Add puts a list in front. It replaces one of the same world, and drops the last ones
// beyond MaxLists or MaxBytes. It reports false, and leaves the set as it is, if the list
// alone is too large. The set keeps l.
func (s *Set) Add(l *List) bool {
	m := member{bytes: l.Append(nil), list: l}
	size := s.head() + overhead + len(m.bytes)
	if size > MaxBytes {
		return false
	}
	s.remove(l)
	members := []member{m}
	for i := range s.members {
		size += overhead + len(s.members[i].encoded())
		if len(members) == MaxLists || size > MaxBytes {
			break
		}
		members = append(members, s.members[i])
	}
	s.members = members
	return true
}

// remove removes the list of a world. It reports whether the set has had it.
func (s *Set) remove(l *List) bool {
	for i, old := range s.lists() {
		if old.Equal(l) {
			s.members = slices.Delete(s.members, i, i+1)
			return true
		}
	}
	return false
}

// replace replaces the list of the same world, for its stamps. It reports whether the set has one.
func (s *Set) replace(l *List) bool {
	for i, old := range s.lists() {
		if old == l || old.Equal(l) {
			s.members[i] = member{list: l}
			return true
		}
	}
	return false
}

// hasRoom reports whether a list fits into the set without another being dropped.
func (s *Set) hasRoom(l *List) bool {
	size := s.head() + overhead + len(l.Append(nil))
	for i := range s.members {
		size += overhead + len(s.members[i].encoded())
	}
	if len(s.members) < MaxLists && size <= MaxBytes {
		return true
	}
	return slices.ContainsFunc(s.lists(), l.Equal)
}

// ask begins a generation of sets below this one.
func (s *Set) ask(questions []Question) {
	s.generations = slices.Insert(s.generations, 0, generation{questions: questions})
	s.generations = s.generations[:min(len(s.generations), MaxGenerations)]
}

func (s *Set) clone() *Set {
	c := *s
	c.generations, c.members = slices.Clone(s.generations), slices.Clone(s.members)
	return &c
}

// adopt adds the generations of another set that this one lacks, behind its own, as far as there
// is room. It reports whether it has added any.
func (s *Set) adopt(others []generation) (added bool) {
	for _, g := range others {
		has := slices.ContainsFunc(s.generations, func(own generation) bool { return slices.Equal(own.questions, g.questions) })
		if !has && len(s.generations) < MaxGenerations {
			s.generations = append(s.generations, g)
			added = true
		}
	}
	return added
}

// own is how many of its own lists a set keeps at least when another is merged into it.
const own = MaxLists / 2

// Merge puts the lists of another set behind those of this one, except those whose world it
// has already, as far as there is room, and its generations. It reports whether it took any.
func (s *Set) Merge(other *Set) bool {
	took := s.adopt(other.generations)
	var fresh []member
	mine := s.lists()
	for i, l := range other.lists() {
		if !slices.ContainsFunc(mine, l.Equal) {
			fresh = append(fresh, other.members[i])
		}
	}
	if len(fresh) == 0 {
		return took
	}
	all := append(slices.Clone(s.members[:min(len(s.members), max(own, MaxLists-len(fresh)))]), fresh...)
	size := s.head()
	for i := range all {
		if size += overhead + len(all[i].encoded()); i == MaxLists || size > MaxBytes {
			all = all[:i]
			break
		}
	}
	s.members = all
	return true
}
