package manifest

import "jitcache/core/key"

// Notes are where it is remembered what results were made from, from one process
// to the next. They may forget.
type Notes interface {
	// Recall returns what was noted under a key, nil if nothing is there.
	Recall(id *key.ID) []byte
	// Note replaces it.
	Note(k *key.Key, data []byte)
}

// Shelf is a book of this process, and where it is noted for the others. A Shelf
// is for one goroutine.
type Shelf struct {
	book *Book
	note func() *key.Key
}

// NewShelf returns an empty shelf. note makes the key of its notes, and is called
// when that is needed.
func NewShelf(note func() *key.Key) *Shelf { return &Shelf{&Book{}, note} }

// Find returns the first list that is unchanged: of the process's own book, else
// of that in the notes, to which other processes may have added. It notes stamps
// that were out of date. notes may be nil.
func (s *Shelf) Find(notes Notes) Found {
	found := s.book.Find()
	if found.List == nil && notes != nil {
		if book, err := ParseBook(notes.Recall(&s.note().ID)); err == nil {
			s.book = book
			found = s.book.Find()
		}
	}
	if found.Stale {
		s.store(notes)
	}
	return found
}

// Add puts a list in front, and notes it if it is not too large. notes may be
// nil.
func (s *Shelf) Add(l *List, notes Notes) {
	if s.book.Add(l) {
		s.store(notes)
	}
}

func (s *Shelf) store(notes Notes) {
	if notes != nil {
		notes.Note(s.note(), s.book.Append(nil))
	}
}
