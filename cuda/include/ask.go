package include

import (
	"bytes"
	"slices"
)

// A name that __has_include asks for is looked up like one that is included,
// and its being there, or not, belongs to the closure. The question may stand
//
//   - in a line of #if, or in any expression: __has_include(<x>), or CALL(<x>) of
//     a macro that asks;
//   - in the body of a macro, for whoever uses that in an #if. A quoted name then
//     starts in the folder of the user, which may be any;
//   - in the body of a macro for its parameter. Such a macro is an asker; its
//     calls, wherever they are, are then questions themselves.

// asks are the questions of a walk.
type asks struct {
	lines  []question     // all lines of #if with a parenthesis, all bodies, all texts
	askers map[string]int // macros that ask, and how many lines were looked at for them
	roams  map[name]int   // quoted names in bodies, and how many texts were looked at for them
	kinds  map[name]kind  // of those
}

// question is a line that may ask.
type question struct {
	from *text
	line *directive
}

// ask follows the questions in a line of #if or a body.
func (w *walk) ask(t *text, d *directive) error {
	w.asks.lines = append(w.asks.lines, question{t, d})
	body := d.kind == kindDefine
	if body && !bytes.Contains(d.text, []byte("__has_")) {
		return nil
	}
	for i, c := range d.text {
		if c != '(' {
			continue
		}
		k, asking := asking(trailingWord(d.text[:i]))
		if !asking && (body || !opensName(d.text[i+1:])) {
			continue
		}
		if err := w.question(t, d, d.text[i:], k); err != nil {
			return err
		}
	}
	return nil
}

// longestCall bounds, in bytes, a call of __has_include in code.
const longestCall = 4096

// askCode follows the questions in a text that are in none of its directives.
func (w *walk) askCode(t *text) error {
	code := &directive{kind: kindCode, text: t.body}
	w.asks.lines = append(w.asks.lines, question{t, code})
	return t.outside([]byte("__has_"), func(at int) error {
		word, _ := leadingWord(t.body[at:])
		k, asks := asking(string(word))
		open := skipBlanks(t.body, at+len(word))
		if !asks || open == len(t.body) || t.body[open] != '(' {
			return nil
		}
		return w.question(t, &directive{kind: kindCode, at: at}, t.body[open:], k)
	})
}

// outside calls fn for every place of a word in a text that is not in a line of
// #if or #define.
func (t *text) outside(word []byte, fn func(at int) error) error {
	next := 0
	for at := 0; ; at += len(word) {
		n := bytes.Index(t.body[at:], word)
		if n < 0 {
			return nil
		}
		at += n
		for next < len(t.directives) && t.directives[next].end <= at {
			next++
		}
		if next < len(t.directives) && t.directives[next].at <= at && t.directives[next].kind >= kindDefine {
			continue
		}
		if err := fn(at); err != nil {
			return err
		}
	}
}

// skipBlanks returns the offset of what follows white space and comments.
func skipBlanks(text []byte, at int) int {
	s := scanner{text: text, i: at}
	s.blanks()
	return s.i
}

// opensName reports whether a name in quotes or angle brackets comes first.
func opensName(text []byte) bool {
	text = text[skipBlanks(text, 0):]
	return len(text) > 0 && (text[0] == '<' || text[0] == '"')
}

// question follows one question: what is in the parenthesis at the start.
func (w *walk) question(t *text, d *directive, from []byte, k kind) error {
	n, literal := literalName(from[skipBlanks(from, 1):])
	if literal {
		if n.quoted && d.kind == kindDefine {
			w.roam(n, k)
		}
		t.links = append(t.links, link{kind: k})
		return w.link(&t.links[len(t.links)-1], n, t)
	}
	if d.kind == kindCode { // as it is in the text, with comments
		s := scanner{text: from[:min(len(from), longestCall)], dialect: w.dialect}
		from = s.clean(0, len(s.text), inCondition)
	}
	operand := parenthesised(from)
	if d.kind != kindDefine {
		w.later(t, d, k, operand)
		return nil
	}
	m, defined := definitionOf(d)
	for _, token := range split(operand) {
		if m.param(token) >= 0 {
			w.asker(defined)
			return nil
		}
	}
	w.later(t, d, k, operand)
	return nil
}

// definitionOf returns what a line of #define defines.
func definitionOf(d *directive) (m *macro, name string) {
	all := macros{}
	all.define(d.text)
	for name, ds := range all {
		return ds[0], name
	}
	return &macro{}, ""
}

func (w *walk) asker(name string) {
	if _, known := w.asks.askers[name]; !known && name != "" {
		w.asks.askers[name] = 0
	}
}

// roam remembers a quoted name that any text may ask for.
func (w *walk) roam(n name, k kind) {
	if _, known := w.asks.roams[n]; !known {
		w.asks.roams[n] = 0
	}
	w.asks.kinds[n] = k
}

func asking(word string) (kind, bool) {
	switch word {
	case "__has_include", "__has_embed":
		return kindHas, true
	case "__has_include_next":
		return kindHasNext, true
	}
	return kindHas, false
}

// asked looks for calls of askers in the lines that have not been looked at for
// them, until that makes no more askers.
func (w *walk) asked() error {
	for again := true; again; {
		again = false
		for _, name := range slices.Sorted(keysOf(w.asks.askers)) {
			from := w.asks.askers[name]
			w.asks.askers[name] = len(w.asks.lines)
			for _, q := range w.asks.lines[from:] {
				if err := w.calls(q, name); err != nil {
					return err
				}
			}
		}
		for _, done := range w.asks.askers {
			again = again || done < len(w.asks.lines)
		}
	}
	return w.wander()
}

func keysOf[K comparable, V any](m map[K]V) func(func(K) bool) {
	return func(yield func(K) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// calls follows the calls of an asker in a line or text. A body that has its
// name and calls nothing makes another asker: #define HAS2 HAS.
func (w *walk) calls(q question, name string) error {
	if q.line.kind == kindCode {
		return q.from.outside([]byte(name), func(at int) error {
			return w.call(q, q.from.body, at, name)
		})
	}
	line := q.line.text
	for at := 0; ; at += len(name) {
		n := bytes.Index(line[at:], []byte(name))
		if n < 0 {
			return nil
		}
		at += n
		if err := w.call(q, line, at, name); err != nil {
			return err
		}
	}
}

func (w *walk) call(q question, line []byte, at int, name string) error {
	end := at + len(name)
	if at > 0 && isWord(line[at-1]) || end < len(line) && isWord(line[end]) {
		return nil
	}
	body := q.line.kind == kindDefine
	if body && len(bytes.TrimSpace(line[:at])) == 0 {
		return nil // its own definition
	}
	rest := line[skipBlanks(line, end):]
	if len(rest) == 0 || rest[0] != '(' {
		if body {
			_, other := definitionOf(q.line)
			w.asker(other)
		}
		return nil
	}
	if q.line.kind == kindCondition && opensName(rest[1:]) {
		return nil // was followed when the line was read
	}
	return w.question(q.from, q.line, rest, kindHas)
}

// wander looks the quoted names of bodies up from every text.
func (w *walk) wander() error {
	for _, n := range slices.SortedFunc(keysOf(w.asks.roams), func(a, b name) int { return bytes.Compare([]byte(a.text), []byte(b.text)) }) {
		from := w.asks.roams[n]
		w.asks.roams[n] = len(w.texts)
		for _, t := range w.texts[from:] {
			t.links = append(t.links, link{kind: w.asks.kinds[n]})
			if err := w.link(&t.links[len(t.links)-1], n, t); err != nil {
				return err
			}
		}
	}
	return nil
}

// parenthesised returns what is between the parenthesis at the start and the one
// that closes it.
func parenthesised(line []byte) []byte {
	depth := 0
	for i, c := range line {
		switch c {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return line[1:i]
			}
		}
	}
	return line[1:]
}

func trailingWord(line []byte) string {
	line = bytes.TrimRight(line, " \t")
	n := len(line)
	for n > 0 && isWord(line[n-1]) {
		n--
	}
	return string(line[n:])
}
