package include

import "bytes"

// directive reads the directive whose # is behind it, and leaves the scanner at
// the next line.
func (s *scanner) directive(at int) {
	s.inline()
	switch word := s.word(); word {
	case "include", "import":
		s.header(kindInclude, at)
	case "include_next":
		s.header(kindNext, at)
	case "embed":
		s.header(kindEmbed, at)
	case "define":
		s.add(kindDefine, at, s.operand(inDirective))
	case "if", "elif":
		if text := s.operand(inCondition); bytes.IndexByte(text, '(') >= 0 || bytes.Contains(text, []byte("__has")) {
			s.add(kindCondition, at, text)
		}
	default:
		s.rest(inDirective)
	}
}

func (s *scanner) add(k kind, at int, text []byte) {
	s.found = append(s.found, directive{k, at, s.i, text})
}

// inline skips white space and comments within a line.
func (s *scanner) inline() {
	for s.i < len(s.text) {
		switch c := s.text[s.i]; {
		case c == ' ', c == '\t', c == '\v', c == '\f', c == '\r':
			s.i++
		case c == '/' && s.comment():
		case c == '\\' && s.splice(s.i) > 0:
			s.i += s.splice(s.i)
		default:
			return
		}
	}
}

// word reads the letters of a directive's name, over splices.
func (s *scanner) word() string {
	start, spliced := s.i, false
	var joined []byte
	for s.i < len(s.text) {
		if n := s.splice(s.i); n > 0 {
			if !spliced {
				joined = append(joined, s.text[start:s.i]...)
				spliced = true
			}
			s.i += n
			continue
		}
		if !isWord(s.text[s.i]) {
			break
		}
		if spliced {
			joined = append(joined, s.text[s.i])
		}
		s.i++
	}
	if spliced {
		return string(joined)
	}
	return string(s.text[start:s.i])
}

// header reads what follows #include. A name in quotes or angle brackets is
// taken as it stands: neither comments nor escapes are in it.
func (s *scanner) header(k kind, at int) {
	s.inline()
	if s.i >= len(s.text) {
		return
	}
	var closing byte
	switch s.text[s.i] {
	case '<':
		closing = '>'
	case '"':
		closing = '"'
	default:
		s.add(k, at, s.operand(inDirective))
		return
	}
	line := s.text[s.i:s.lineEnd(s.i)]
	n := bytes.IndexByte(line[1:], closing)
	if n < 0 {
		s.rest(inDirective) // the front end refuses it
		return
	}
	name := line[:n+2]
	if bytes.Contains(name, []byte("/*")) {
		s.suspect(s.i) // the front end opens a comment here where it skips
	}
	s.i += len(name)
	s.add(k, at, unsplice(name))
	s.rest(inDirective)
}

// operand returns the rest of the line, without splices and comments, and
// leaves the scanner at the next line.
func (s *scanner) operand(in where) []byte {
	start := s.i
	mixed := s.rest(in)
	text := bytes.TrimRight(s.text[start:s.i], "\r\n")
	if !mixed {
		return text
	}
	return s.clean(start, s.i, in)
}

// clean returns a copy of a logical line: splices gone, a comment one blank.
func (s *scanner) clean(start, end int, in where) []byte {
	line := scanner{text: s.text[:end], dialect: s.dialect, i: start, doubt: -1}
	var out []byte
	for line.i < end {
		before := line.i
		switch c := line.text[line.i]; {
		case c == '\\' && line.splice(line.i) > 0:
			line.i += line.splice(line.i)
			continue
		case c == '/' && line.comment():
			out = append(out, ' ')
			continue
		case c == '"':
			line.quoted()
		case c == '\'':
			line.single()
		case c == '<':
			line.angle(in)
		default:
			line.i++
		}
		out = append(out, line.text[before:min(line.i, end)]...)
	}
	return bytes.TrimRight(unsplice(out), "\r\n")
}

// unsplice removes backslash and newline.
func unsplice(text []byte) []byte {
	if bytes.IndexByte(text, '\n') < 0 {
		return text
	}
	text = bytes.ReplaceAll(text, []byte("\\\r\n"), nil)
	return bytes.ReplaceAll(text, []byte("\\\n"), nil)
}
