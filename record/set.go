package record

import (
	"bytes"
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
	MaxList = MaxBytes - setHead - 4
)

// A set as bytes: magic 8, count 4, then per list its size, 4, and the list.
const (
	setMagic = "jcset\x00\x00\x02"
	setHead  = len(setMagic) + 4
)

var errSet = errors.New("set of lists: malformed")

// Set holds the last few lists of one request, newest first, because the branches of a
// project take turns. The zero Set is empty. A Set is for one goroutine.
type Set struct{ members []member }

// member is a list, as bytes until somebody asks for it.
type member struct {
	bytes []byte
	list  *List
}

// ParseSet reads what Append wrote. The Set refers to b. The lists are parsed when
// Find comes to them; one that is malformed is dropped then.
func ParseSet(b []byte) (*Set, error) {
	if len(b) < setHead || string(b[:len(setMagic)]) != setMagic {
		return nil, errSet
	}
	n := binary.LittleEndian.Uint32(b[len(setMagic):])
	if n > MaxLists || len(b) > MaxBytes {
		return nil, errSet
	}
	s := &Set{}
	for b = b[setHead:]; n > 0; n-- {
		if len(b) < 4 || uint64(binary.LittleEndian.Uint32(b)) > uint64(len(b)-4) {
			return nil, errSet
		}
		end := 4 + int(binary.LittleEndian.Uint32(b))
		s.members = append(s.members, member{bytes: b[4:end:end]})
		b = b[end:]
	}
	if len(b) != 0 {
		return nil, errSet
	}
	return s, nil
}

// Found is what Find has found.
type Found struct {
	List *List // nil: none
	// Stale: what is stored should be replaced, stamps in it are out of date.
	Stale bool
	// Why says why the newest list does not apply; empty for an empty set.
	Why string
}

// Find returns the first list that is unchanged and moves it to the front. The
// List belongs to the set.
func (s *Set) Find(now *Surroundings) Found {
	var found Found
	for i := 0; i < len(s.members); i++ {
		l, err := s.members[i].open()
		if err != nil {
			s.members = slices.Delete(s.members, i, i+1)
			i--
			continue
		}
		state, why := l.Check(now)
		if state == Changed {
			if found.Why == "" {
				found.Why = why
			}
			continue
		}
		m := member{list: l}
		if state == Unchanged {
			m.bytes = s.members[i].bytes
		}
		s.members = slices.Insert(slices.Delete(s.members, i, i+1), 0, m)
		found.List, found.Stale = l, state == Restamped
		break
	}
	return found
}

func (m *member) open() (*List, error) {
	var err error
	if m.list == nil {
		m.list, err = Parse(m.bytes)
	}
	return m.list, err
}

// Add puts a list in front. It replaces one of the same world, and drops the last ones
// beyond MaxLists or MaxBytes. It reports false, and leaves the set as it is, if the list
// alone is too large. The set keeps l.
func (s *Set) Add(l *List) bool {
	m := member{bytes: l.Append(nil), list: l}
	size := setHead + 4 + len(m.bytes)
	if size > MaxBytes {
		return false
	}
	members := []member{m}
	for _, old := range s.members {
		list, err := old.open()
		if err != nil || list.Equal(l) {
			continue
		}
		size += 4 + len(old.encoded())
		if len(members) == MaxLists || size > MaxBytes {
			break
		}
		members = append(members, old)
	}
	s.members = members
	return true
}

// own is how many of its own lists a set keeps at least when another is merged into it.
const own = MaxLists / 2

// Merge puts the lists of another set behind those of this one, except those whose world it
// has already, as far as there is room. It reports whether it took any.
func (s *Set) Merge(other *Set) bool {
	var fresh []member
	for _, m := range other.members {
		l, err := m.open()
		if err == nil && !slices.ContainsFunc(s.members, func(old member) bool {
			list, err := old.open()
			return err == nil && list.Equal(l)
		}) {
			fresh = append(fresh, m)
		}
	}
	if len(fresh) == 0 {
		return false
	}
	all := append(slices.Clone(s.members[:min(len(s.members), max(own, MaxLists-len(fresh)))]), fresh...)
	size := setHead
	for i := range all {
		if size += 4 + len(all[i].encoded()); i == MaxLists || size > MaxBytes {
			all = all[:i]
			break
		}
	}
	s.members = all
	return true
}

// Payloads returns the payloads of the lists that can be read.
func (s *Set) Payloads() (all [][]byte) {
	for i := range s.members {
		if l, err := s.members[i].open(); err == nil {
			all = append(all, l.Payload)
		}
	}
	return all
}

func (m *member) encoded() []byte {
	if m.bytes == nil {
		m.bytes = m.list.Append(nil)
	}
	return m.bytes
}

// Len returns the number of lists.
func (s *Set) Len() int { return len(s.members) }

// Append appends the set as bytes.
func (s *Set) Append(dst []byte) []byte {
	dst = append(dst, setMagic...)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(s.members)))
	for i := range s.members {
		list := s.members[i].encoded()
		dst = binary.LittleEndian.AppendUint32(dst, uint32(len(list)))
		dst = append(dst, list...)
	}
	return dst
}

// SetStore is a set of this process, and where it is noted for the others. It is
// for one goroutine.
type SetStore struct {
	set   *Set
	noted []byte // as it was read or written last
	key   *key.Key
}

// NewSetStore returns an empty set that is noted under a key.
func NewSetStore(k *key.Key) *SetStore { return &SetStore{set: &Set{}, key: k} }

// Find returns the first list that is unchanged: of the process's own set, else of
// that in the notes, to which other processes may have added, else of the sets in
// layers. It notes stamps that were out of date, and what it has found in a layer.
func (s *SetStore) Find(now *Surroundings) Found {
	found := s.set.Find(now)
	if found.List == nil && now.Notes != nil {
		if data := now.Notes.LoadNote(&s.key.ID); data != nil && !bytes.Equal(data, s.noted) {
			if set, err := ParseSet(data); err == nil {
				s.set, s.noted = set, data
				if found = s.set.Find(now); found.List != nil {
					now.Notes.UsedNote(&s.key.ID)
				}
			}
		}
	}
	if found.List == nil && now.Notes != nil {
		found = s.findInLayers(now, found)
	}
	if found.Stale {
		s.store(now.Notes)
	}
	return found
}

// findInLayers is Find in the sets of layers, where the own lists have come to own. A
// list that it finds is in the own set afterwards.
func (s *SetStore) findInLayers(now *Surroundings, own Found) Found {
	for data := range now.Notes.LayerNotes(&s.key.ID) {
		set, err := ParseSet(data)
		if err != nil {
			continue
		}
		found := set.Find(now)
		if found.List != nil && s.set.Add(found.List) {
			found.Stale = true // by as much as the own set has not got
			now.Notes.UsedNote(&s.key.ID)
			return found
		}
		if own.Why == "" {
			own.Why = found.Why
		}
	}
	return own
}

// Add puts a list in front, of what others have noted meanwhile too, and notes it
// if it is not too large.
func (s *SetStore) Add(l *List, now *Surroundings) {
	if now.Notes != nil {
		if set, err := ParseSet(now.Notes.LoadNote(&s.key.ID)); err == nil {
			s.set = set
		}
	}
	if s.set.Add(l) && now.Notes != nil {
		s.noted = s.set.Append(nil)
		now.Notes.ShareNote(s.key, s.noted)
		now.Notes.UsedNote(&s.key.ID)
	}
}

// store notes the set, and what others have noted meanwhile behind it.
func (s *SetStore) store(notes Notes) {
	if notes == nil {
		return
	}
	if data := notes.LoadNote(&s.key.ID); data != nil && !bytes.Equal(data, s.noted) {
		if set, err := ParseSet(data); err == nil {
			s.set.Merge(set)
		}
	}
	s.noted = s.set.Append(nil)
	notes.SaveNote(s.key, s.noted)
}
