package include

import (
	"bytes"
	"slices"
)

// kind says what a directive does with a name.
type kind byte

const (
	kindInclude kind = iota
	kindNext         // #include_next
	kindEmbed        // #embed: the content counts, and is not scanned
	kindHas          // __has_include: only whether there is one
	kindHasNext
	kindDefine
	kindCondition // a line of #if, for what it asks __has_include
	kindCode      // a text as it is, for the same: NVRTC takes __has_include in any expression
)

// directive is a line that names a file, or helps to. The text of it aliases
// the scanned text, or is a copy without splices and comments.
type directive struct {
	kind kind
	at   int    // offset of the line, to tell its number
	end  int    // offset behind it
	text []byte // what follows the word
}

// dialect is what a language standard changes for the scanner.
type dialect struct{ raw, trigraphs, apart bool } // apart: 1'000

func dialectOf(standard string) dialect {
	switch standard {
	case "c++03", "c++98":
		return dialect{raw: false, trigraphs: true}
	case "c++11":
		return dialect{raw: true, trigraphs: true}
	case "c++14":
		return dialect{raw: true, trigraphs: true, apart: true}
	}
	return dialect{raw: true, apart: true}
}

// scan returns the directives of a text, in order, whatever #if encloses them.
func scan(text []byte, d dialect) []directive {
	if d.trigraphs && bytes.Contains(text, []byte("??")) {
		text = replaceTrigraphs(text)
	}
	s := scanner{text: text, dialect: d, doubt: -1}
	s.i = len(bytes.TrimPrefix(text, []byte("\ufeff")))
	s.i = len(text) - s.i
	for s.i < len(text) {
		s.line()
	}
	if s.doubt >= 0 {
		s.again()
	}
	return s.found
}

// scanner goes through a text line by line; lines are logical ones, joined
// where a backslash ends them.
type scanner struct {
	text []byte
	dialect
	i     int
	found []directive
	// doubt is where a literal did not end with its line, as in #error don't. The
	// front end may see comments and raw strings from there on that the scanner
	// does not, and the other way round.
	doubt int
}

func (s *scanner) line() {
	s.blanks()
	if at := s.i; s.hash() {
		s.directive(at)
	} else {
		s.rest(inCode)
	}
}

// hash skips a # or %: and reports whether there was one.
func (s *scanner) hash() bool {
	if s.i >= len(s.text) {
		return false
	}
	switch s.text[s.i] {
	case '#':
		s.i++
		return true
	case '%':
		i := s.i + 1
		for i < len(s.text) && s.splice(i) > 0 {
			i += s.splice(i)
		}
		if i < len(s.text) && s.text[i] == ':' {
			s.i = i + 1
			return true
		}
	}
	return false
}

// splice returns the size of a backslash and newline at i, 0 if there is none.
func (s *scanner) splice(i int) int {
	switch t := s.text[i:]; {
	case len(t) > 1 && t[0] == '\\' && t[1] == '\n':
		return 2
	case len(t) > 2 && t[0] == '\\' && t[1] == '\r' && t[2] == '\n':
		return 3
	}
	return 0
}

// comment skips a comment at i, a slash, and reports whether there was one. A
// line comment is skipped up to its newline.
func (s *scanner) comment() bool {
	i := s.i + 1
	for i < len(s.text) && s.text[i] == '\\' && s.splice(i) > 0 {
		i += s.splice(i)
	}
	if i >= len(s.text) {
		return false
	}
	switch s.text[i] {
	case '*':
		s.block(i + 1)
		return true
	case '/':
		s.i = s.lineEnd(i + 1)
		return true
	}
	return false
}

// block skips to behind the end of a block comment. One that does not end takes
// nothing with it: the compile fails anyway, or the scanner is wrong.
func (s *scanner) block(i int) {
	for i < len(s.text) {
		n := bytes.IndexByte(s.text[i:], '*')
		if n < 0 {
			break
		}
		i += n + 1
		j := i
		for j < len(s.text) && s.text[j] == '\\' && s.splice(j) > 0 {
			j += s.splice(j)
		}
		if j < len(s.text) && s.text[j] == '/' {
			s.i = j + 1
			return
		}
	}
	s.suspect(s.i)
	s.i = len(s.text)
}

func (s *scanner) suspect(at int) {
	if s.doubt < 0 {
		s.doubt = at
	}
}

// lineEnd returns the offset of the newline that ends the logical line.
func (s *scanner) lineEnd(i int) int {
	for {
		n := bytes.IndexByte(s.text[i:], '\n')
		if n < 0 {
			return len(s.text)
		}
		i += n
		if !(i > 0 && s.text[i-1] == '\\' || i > 1 && s.text[i-1] == '\r' && s.text[i-2] == '\\') {
			return i
		}
		i++
	}
}

// blanks skips white space and comments, over the ends of lines.
func (s *scanner) blanks() {
	for s.i < len(s.text) {
		switch c := s.text[s.i]; {
		case c == ' ', '\t' <= c && c <= '\r':
			s.i++
		case c == '/' && s.comment():
		case c == '\\' && s.splice(s.i) > 0:
			s.i += s.splice(s.i)
		default:
			return
		}
	}
}

// stops are the bytes at which rest has to look closer.
var stops = [256]bool{'\n': true, '/': true, '"': true, '\'': true, '\\': true, '<': true}

// where a line is makes a difference to rest.
type where int

const (
	inDirective where = iota
	// inCondition: a name in angle brackets behind a parenthesis is skipped as a
	// whole: __has_include(<sys//x.h>).
	inCondition
	// inCode: behind a comment or raw string over lines NVRTC takes a # for the
	// first of its line.
	inCode
)

// rest skips to behind the end of the line, and reports whether a splice, a
// comment or a raw string was in it.
func (s *scanner) rest(in where) (mixed bool) {
	for {
		for s.i < len(s.text) && !stops[s.text[s.i]] {
			s.i++
		}
		if s.i >= len(s.text) {
			return mixed
		}
		start := s.i
		switch s.text[s.i] {
		case '\n':
			s.i++
			return mixed
		case '/', '"':
			if !s.commentOrString() {
				continue
			}
			if mixed = true; in == inCode && bytes.IndexByte(s.text[start:s.i], '\n') >= 0 {
				return mixed
			}
		case '\'':
			s.single()
		case '\\':
			n := s.splice(s.i)
			mixed = mixed || n > 0
			s.i += max(n, 1)
		case '<':
			s.angle(in)
		}
	}
}

// commentOrString skips what begins with the slash or quote at i, and reports
// whether it was a comment or a raw string.
func (s *scanner) commentOrString() bool {
	if s.text[s.i] == '"' {
		return s.quoted()
	}
	if s.comment() {
		return true
	}
	s.i++
	return false
}

func (s *scanner) angle(in where) {
	if in == inCondition {
		before := bytes.TrimRight(s.text[:s.i], " \t")
		name, _, closed := bytes.Cut(s.text[s.i:s.lineEnd(s.i)], []byte(">"))
		if closed && bytes.HasSuffix(before, []byte("(")) {
			s.i += len(name)
		}
	}
	s.i++
}

// quoted skips a string literal at i. It reports whether it was a raw string.
func (s *scanner) quoted() (raw bool) {
	if s.raw && s.rawPrefix() && s.skipRaw() {
		return true
	}
	s.literal('"')
	return false
}

// literal skips a literal that ends with quote, or with the line.
func (s *scanner) literal(quote byte) {
	start := s.i
	for s.i++; s.i < len(s.text); s.i++ {
		switch s.text[s.i] {
		case quote:
			s.i++
			return
		case '\\':
			s.i += max(s.splice(s.i), 2) - 1
		case '\n':
			s.suspect(start)
			return
		}
	}
	s.i = len(s.text)
}

// single skips a character literal at i, unless the quote keeps digits apart: it
// is in a number. If no digit or letter follows the text is wrong, or skipped.
func (s *scanner) single() {
	if !s.apart || !s.inNumber() {
		s.literal('\'')
		return
	}
	if s.i++; s.i == len(s.text) || !isWord(s.text[s.i]) {
		s.suspect(s.i)
	}
}

func (s *scanner) inNumber() bool {
	const longest = 256 // bytes of a number, so that a row of quotes takes no time
	j := s.i
	for j > max(0, s.i-longest) && (isWord(s.text[j-1]) || s.text[j-1] == '\'' || s.text[j-1] == '.') {
		j--
	}
	for j < s.i && (s.text[j] == '.' || s.text[j] == '\'') {
		j++
	}
	return j < s.i && '0' <= s.text[j] && s.text[j] <= '9'
}

func isWord(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '$' || c >= 0x80
}

// rawPrefix reports whether the quote at i belongs to a raw string: the word
// before it is R, LR, uR, UR or u8R.
func (s *scanner) rawPrefix() bool {
	j := s.i
	for j > 0 && isWord(s.text[j-1]) && s.i-j < 4 {
		j--
	}
	switch string(s.text[j:s.i]) {
	case "R", "LR", "uR", "UR", "u8R":
		return true
	}
	return false
}

// skipRaw skips a raw string at i. It reports false if there is none: a
// delimiter has at most 16 bytes, and an end.
func (s *scanner) skipRaw() bool {
	n := bytes.IndexAny(s.text[s.i+1:min(len(s.text), s.i+19)], "( )\\\t\v\f\n\"")
	if n < 0 || n > 16 || s.text[s.i+1+n] != '(' {
		return false
	}
	end := append(append([]byte{')'}, s.text[s.i+1:s.i+1+n]...), '"')
	length := bytes.Index(s.text[s.i+n+2:], end)
	if length < 0 {
		s.suspect(s.i)
		return false
	}
	s.i += n + 2 + length + len(end)
	return true
}

// again looks, behind the doubt, for directives where the scanner saw a comment
// or a raw string.
func (s *scanner) again() {
	known := map[int]bool{}
	for i := range s.found {
		known[s.found[i].at] = true
	}
	s.raw = false
	text := s.text
	for i := s.doubt; i < len(text); i = len(s.text) {
		s.text, s.i = text, i
		s.text = text[:min(s.lineEnd(i)+1, len(text))]
		for s.i < len(s.text) && (s.text[s.i] == ' ' || s.text[s.i] == '\t') {
			s.i++
		}
		if at := s.i; !known[at] && s.hash() {
			s.directive(at)
		}
	}
	slices.SortStableFunc(s.found, func(a, b directive) int { return a.at - b.at })
}

// replaceTrigraphs replaces the two that matter here, in a copy: # and \.
func replaceTrigraphs(text []byte) []byte {
	text = bytes.ReplaceAll(text, []byte("??="), []byte("#"))
	return bytes.ReplaceAll(text, []byte("??/"), []byte("\\"))
}
