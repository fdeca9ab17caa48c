package include

import (
	"bytes"
	"encoding/binary"

	"jitcache/core/key"
)

// closure makes the result of a walk that has come to its end.
func (w *walk) closure(source *text) *Closure {
	s := structure{places: w.usesPlaces(), number: map[*text]int{}, same: map[identity]int{}}
	s.text(source)
	for i := 0; i < len(s.order); i++ {
		s.add(s.order[i])
	}
	c := &Closure{List: w.disk.list, Digest: key.Sum(s.content), Paths: key.Sum(s.paths)}
	for _, t := range w.texts {
		c.look(t.body)
	}
	for _, m := range w.req.Macros {
		c.look([]byte(m))
	}
	c.List.Payload = c.Payload()
	return c
}

// look notes what a text may put into the result.
func (c *Closure) look(text []byte) {
	c.ShowsPaths = c.ShowsPaths || showsPaths(text)
	c.ShowsTime = c.ShowsTime || showsTime(text)
}

// showsPaths reports whether a text has a word by which a program asks for a
// path: __FILE__, __BASE_FILE__, __builtin_FILE, a source_location, or NVRTC's
// assert, which has __FILE__ in it. A part of the word is enough.
func showsPaths(text []byte) bool {
	return bytes.Contains(text, []byte("_FILE")) || bytes.Contains(text, []byte("source_location")) || hasAssert(text)
}

// hasAssert leaves out static_assert.
func hasAssert(text []byte) bool {
	word := []byte("assert")
	for i := 0; ; i += len(word) {
		n := bytes.Index(text[i:], word)
		if n < 0 {
			return false
		}
		i += n
		end := i + len(word)
		if (i == 0 || !isWord(text[i-1])) && (end == len(text) || !isWord(text[end])) {
			return true
		}
	}
}

// showsTime looks for __DATE__, __TIME__ and, for a later NVRTC, __TIMESTAMP__,
// without the underscores in front: a search for those stops at every one.
func showsTime(text []byte) bool {
	return bytes.Contains(text, []byte("DATE__")) || bytes.Contains(text, []byte("TIME__")) || bytes.Contains(text, []byte("STAMP__"))
}

// usesPlaces reports whether anything depends on where on the search path a
// file was found, and not only on its content.
func (w *walk) usesPlaces() bool {
	for _, t := range w.texts {
		for _, l := range t.links {
			if l.kind == kindNext || l.kind == kindHasNext {
				return true
			}
		}
	}
	return false
}

// structure numbers the texts in the order in which directives lead to them, and
// writes down what each is and where its directives lead.
type structure struct {
	places  bool
	number  map[*text]int
	same    map[identity]int // the first text that is this file
	order   []*text
	content []byte
	paths   []byte
}

func (s *structure) put(v int) { s.content = binary.LittleEndian.AppendUint32(s.content, uint32(v)) }

func (s *structure) path(p string) {
	s.paths = append(s.paths, p...)
	s.paths = append(s.paths, 0)
}

func (s *structure) text(t *text) int {
	n, ok := s.number[t]
	if !ok {
		n = len(s.order)
		s.number[t] = n
		s.order = append(s.order, t)
	}
	return n
}

// add writes a text: its content, of the source only the links; which text
// before it is the same file; and its links.
func (s *structure) add(t *text) {
	n := s.number[t]
	if n > 0 {
		s.content = append(s.content, t.digest[:]...)
	}
	first := n
	if t.ident != (identity{}) {
		if before, ok := s.same[t.ident]; ok {
			first = before
		} else {
			s.same[t.ident] = n
		}
	}
	s.put(first)
	s.path(t.path)
	s.put(len(t.links))
	for i := range t.links {
		s.link(&t.links[i])
	}
}

// link writes where a directive leads. Of a question only the answer counts.
func (s *structure) link(l *link) {
	s.put(int(l.kind))
	for _, name := range l.names {
		s.content = append(append(s.content, name...), 0)
	}
	s.put(len(l.found))
	for _, n := range l.found {
		s.put(n)
	}
	if l.kind == kindHas {
		return
	}
	for _, t := range l.targets {
		if s.places {
			s.put(t.place)
		}
		switch {
		case t.memory != nil:
			s.put(s.text(t.memory))
		case l.kind == kindHasNext:
		case l.kind == kindEmbed:
			s.content = append(s.content, t.file.Digest[:]...)
		default:
			s.put(s.text(t.file.text))
			s.path(t.file.path)
		}
	}
}
