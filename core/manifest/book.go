package manifest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
)

// Bounds of a book. A list of 444 files and 127 absent names takes 60 kB.
const (
	MaxLists = 8
	MaxBytes = 1 << 20
)

// A book as bytes: magic 8, count 4, then per list its size, 4, and the list.
const (
	bookMagic = "jcbook\x00\x01"
	bookHead  = len(bookMagic) + 4
)

var errBook = errors.New("manifest book: malformed")

// Book is the last few lists of one source, newest first. The zero Book is
// empty. A Book is for one goroutine.
type Book struct{ pages []page }

// page is a list, as bytes until somebody asks for it.
type page struct {
	bytes []byte
	list  *List
}

// ParseBook reads what Append wrote. The Book aliases b. The lists are parsed
// when Find comes to them; one that is malformed is dropped then.
func ParseBook(b []byte) (*Book, error) {
	if len(b) < bookHead || string(b[:len(bookMagic)]) != bookMagic {
		return nil, errBook
	}
	n := binary.LittleEndian.Uint32(b[len(bookMagic):])
	if n > MaxLists || len(b) > MaxBytes {
		return nil, errBook
	}
	book := &Book{}
	for b = b[bookHead:]; n > 0; n-- {
		if len(b) < 4 || uint64(binary.LittleEndian.Uint32(b)) > uint64(len(b)-4) {
			return nil, errBook
		}
		end := 4 + int(binary.LittleEndian.Uint32(b))
		book.pages = append(book.pages, page{bytes: b[4:end:end]})
		b = b[end:]
	}
	if len(b) != 0 {
		return nil, errBook
	}
	return book, nil
}

// Found is what Find has found.
type Found struct {
	List *List // nil: none
	// Stale: the book on disk should be replaced, stamps in it are out of date.
	Stale bool
	// Why says why the newest list is not the one; empty for an empty book.
	Why string
}

// Find returns the first list that is unchanged and moves it to the front. The
// List belongs to the book.
func (b *Book) Find() Found {
	var found Found
	for i := 0; i < len(b.pages); i++ {
		l, err := b.pages[i].open()
		if err != nil {
			b.pages = slices.Delete(b.pages, i, i+1)
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
		p := page{list: l}
		if state == Unchanged {
			p.bytes = b.pages[i].bytes
		}
		b.pages = slices.Insert(slices.Delete(b.pages, i, i+1), 0, p)
		found.List, found.Stale = l, state == Restamped
		break
	}
	return found
}

func (p *page) open() (*List, error) {
	var err error
	if p.list == nil {
		p.list, err = ParseList(p.bytes)
	}
	return p.list, err
}

// Add puts a list in front. One with the same payload is replaced, and the last
// ones go when there are more than MaxLists, or more than MaxBytes of them. It
// reports false, and leaves the book as it is, if the list alone is too large.
// The book keeps l.
func (b *Book) Add(l *List) bool {
	p := page{bytes: l.Append(nil), list: l}
	size := bookHead + 4 + len(p.bytes)
	if size > MaxBytes {
		return false
	}
	pages := []page{p}
	for _, old := range b.pages {
		list, err := old.open()
		if err != nil || bytes.Equal(list.Payload, l.Payload) {
			continue
		}
		size += 4 + len(old.encoded())
		if len(pages) == MaxLists || size > MaxBytes {
			break
		}
		pages = append(pages, old)
	}
	b.pages = pages
	return true
}

func (p *page) encoded() []byte {
	if p.bytes == nil {
		p.bytes = p.list.Append(nil)
	}
	return p.bytes
}

// Len returns the number of lists.
func (b *Book) Len() int { return len(b.pages) }

// Append appends the book as bytes.
func (b *Book) Append(dst []byte) []byte {
	dst = append(dst, bookMagic...)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(b.pages)))
	for i := range b.pages {
		list := b.pages[i].encoded()
		dst = binary.LittleEndian.AppendUint32(dst, uint32(len(list)))
		dst = append(dst, list...)
	}
	return dst
}
