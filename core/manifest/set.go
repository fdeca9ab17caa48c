package manifest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
)

// Bounds of a set. A list of 444 files and 127 absent names takes 60 kB.
const (
	MaxLists = 8
	MaxBytes = 1 << 20
)

// A set as bytes: magic 8, count 4, then per list its size, 4, and the list.
const (
	setMagic = "jcbook\x00\x02"
	setHead  = len(setMagic) + 4
)

var errSet = errors.New("manifest set: malformed")

// Set has the last few lists of one source, newest first. The zero Set is empty.
// One goroutine may use a Set.
type Set struct{ members []member }

// member is a list, as bytes until somebody asks for it.
type member struct {
	bytes []byte
	list  *List
}

// ParseSet reads what Append wrote. The Set aliases b. The lists are parsed
// when Find comes to them; one that is malformed is dropped then.
func ParseSet(b []byte) (*Set, error) {
	if len(b) < setHead || string(b[:len(setMagic)]) != setMagic {
		return nil, errSet
	}
	n := binary.LittleEndian.Uint32(b[len(setMagic):])
	if n > MaxLists || len(b) > MaxBytes {
		return nil, errSet
	}
	set := &Set{}
	for b = b[setHead:]; n > 0; n-- {
		if len(b) < 4 || uint64(binary.LittleEndian.Uint32(b)) > uint64(len(b)-4) {
			return nil, errSet
		}
		end := 4 + int(binary.LittleEndian.Uint32(b))
		set.members = append(set.members, member{bytes: b[4:end:end]})
		b = b[end:]
	}
	if len(b) != 0 {
		return nil, errSet
	}
	return set, nil
}

// Found is the result of Find.
type Found struct {
	List *List // nil: none
	// Stale: the set on disk should be replaced, because stamps in it are out of date.
	Stale bool
	// Why says why the newest list does not match; empty for an empty set.
	Why string
}

// Find returns the first list that is unchanged and moves it to the front. The
// List belongs to the set.
func (s *Set) Find() Found {
	var found Found
	for i := 0; i < len(s.members); i++ {
		l, err := s.members[i].open()
		if err != nil {
			s.members = slices.Delete(s.members, i, i+1)
			i--
			continue
		}
		state, why := l.Check()
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
		m.list, err = ParseList(m.bytes)
	}
	return m.list, err
}

// Add puts a list in front. It replaces a list with the same payload, and drops the
// last ones beyond MaxLists lists or MaxBytes bytes. It reports false, and leaves
// the set as it is, if the list alone is too large. The set keeps l.
func (s *Set) Add(l *List) bool {
	m := member{bytes: l.Append(nil), list: l}
	size := setHead + 4 + len(m.bytes)
	if size > MaxBytes {
		return false
	}
	members := []member{m}
	for _, old := range s.members {
		list, err := old.open()
		if err != nil || bytes.Equal(list.Payload, l.Payload) {
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
