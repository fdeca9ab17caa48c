package native

import (
	"bytes"
	"strings"
)

// directive is a place in a file where a name is looked for.
type directive struct {
	name  string // empty: computed by a macro
	form  form
	macro string // which; empty if it is more than one word
}

type form byte

const (
	quote form = iota // "…"
	angle             // <…>
	next              // #include_next: from the folder after
	has               // __has_include, of either form
	hasQuote
	hasNext // __has_include_next
)

// surprises are texts that make a result depend on more than files.
type surprises struct {
	time  string // __DATE__ and the like
	path  bool   // __FILE__ and the like
	other string // what cannot be keyed at all
}

// scan finds the directives in a file, those in branches that are not taken and
// in comments too.
func scan(text []byte) ([]directive, surprises) {
	if bytes.Contains(text, []byte("\\\n")) {
		text = bytes.ReplaceAll(text, []byte("\\\n"), nil)
	}
	if bytes.Contains(text, []byte("\\\r\n")) {
		text = bytes.ReplaceAll(text, []byte("\\\r\n"), nil)
	}
	var found []directive
	for rest := text; len(rest) > 0; {
		line := rest
		if i := bytes.IndexByte(rest, '\n'); i >= 0 {
			line, rest = rest[:i], rest[i+1:]
		} else {
			rest = nil
		}
		if d, ok := include(line); ok {
			found = append(found, d)
		}
	}
	asked, computed := tested(text)
	s := surprising(text)
	if computed {
		s.other = "__has_include of a macro"
	}
	return append(found, asked...), s
}

// include reads a line, if it is a directive that includes.
func include(line []byte) (directive, bool) {
	line = bytes.TrimLeft(line, " \t\v\f")
	switch {
	case bytes.HasPrefix(line, []byte("#")):
		line = line[1:]
	case bytes.HasPrefix(line, []byte("%:")):
		line = line[2:]
	case bytes.HasPrefix(line, []byte("??=")):
		line = line[3:]
	default:
		return directive{}, false
	}
	line = bytes.TrimLeft(line, " \t\v\f")
	n := 0
	for n < len(line) && (line[n] == '_' || line[n] >= 'a' && line[n] <= 'z') {
		n++
	}
	word := string(line[:n])
	if word != "include" && word != "include_next" && word != "import" && word != "embed" {
		return directive{}, false
	}
	d := named(line[n:])
	if word == "include_next" {
		d.form = next
	}
	return d, true
}

// named reads "name" or <name>.
func named(text []byte) directive {
	text, _, _ = bytes.Cut(text, []byte("\n"))
	text = bytes.TrimLeft(text, " \t\v\f")
	if len(text) > 1 {
		end, f := byte('"'), quote
		if text[0] == '<' {
			end, f = '>', angle
		}
		if i := bytes.IndexByte(text[1:], end); (text[0] == '<' || text[0] == '"') && i > 0 {
			return directive{name: string(text[1 : 1+i]), form: f}
		}
	}
	return directive{macro: identifier(text)}
}

// identifier returns the word that text is, but for a comment behind it.
func identifier(text []byte) string {
	n := 0
	for n < len(text) && isWord(text[n]) {
		n++
	}
	rest := bytes.TrimSpace(text[n:])
	if len(rest) > 0 && !bytes.HasPrefix(rest, []byte("//")) && !bytes.HasPrefix(rest, []byte("/*")) {
		return ""
	}
	return string(text[:n])
}

func isWord(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// values returns what a macro is defined as in a text, wherever that stands. ok
// is false if a definition is more than a name of a header.
func values(text []byte, macro string) (found []directive, ok bool) {
	for {
		i := bytes.Index(text, []byte(macro))
		if i < 0 {
			return found, true
		}
		before, after := text[:i], text[i+len(macro):]
		text = after
		if len(after) > 0 && isWord(after[0]) || !isDefine(before) {
			continue
		}
		d := named(after)
		if d.name == "" || after[0] == '(' {
			return nil, false
		}
		found = append(found, d)
	}
}

// isDefine reports whether a text ends in #define.
func isDefine(text []byte) bool {
	text = bytes.TrimRight(text, " \t")
	text, ok := bytes.CutSuffix(text, []byte("define"))
	text = bytes.TrimRight(text, " \t")
	return ok && (bytes.HasSuffix(text, []byte("#")) || bytes.HasSuffix(text, []byte("%:")))
}

// tested finds the names that __has_include asks for. computed says that one is
// not spelled out.
func tested(text []byte) (found []directive, computed bool) {
	const word = "__has_include"
	for {
		i := bytes.Index(text, []byte(word))
		if i < 0 {
			return found, computed
		}
		text = text[i+len(word):]
		rest := bytes.TrimPrefix(text, []byte("_next"))
		rest = bytes.TrimLeft(bytes.TrimPrefix(rest, []byte("__")), " \t")
		if len(rest) == 0 || rest[0] != '(' {
			continue // defined(__has_include), #ifdef
		}
		d := named(rest[1:])
		if d.name == "" {
			computed = true
			continue
		}
		switch {
		case bytes.HasPrefix(text, []byte("_next")):
			d.form = hasNext
		case d.form == quote:
			d.form = hasQuote
		default:
			d.form = has
		}
		found = append(found, d)
	}
}

// surprising looks for texts whose effect is not in the files. They count
// wherever they stand.
func surprising(text []byte) (s surprises) {
	for _, word := range []string{"__DATE__", "__TIME__", "__TIMESTAMP__"} {
		if bytes.Contains(text, []byte(word)) {
			s.time = word
		}
	}
	for _, word := range []string{"__FILE__", "__BASE_FILE__", "__FILE_NAME__", "__builtin_FILE", "source_location"} {
		s.path = s.path || bytes.Contains(text, []byte(word))
	}
	switch {
	case bytes.Contains(text, []byte(".incbin")):
		s.other = ".incbin"
	case assemblerIncludes(text):
		s.other = ".include of the assembler"
	}
	return s
}

// assemblerIncludes finds .include before a quote, as inline assembly has it. In C
// a member of that name stands before anything else.
func assemblerIncludes(text []byte) bool {
	const word = ".include"
	for {
		i := bytes.Index(text, []byte(word))
		if i < 0 {
			return false
		}
		text = bytes.TrimLeft(text[i+len(word):], " \t\\")
		if len(text) > 0 && text[0] == '"' {
			return true
		}
	}
}

// folder returns the folder of a path as a compiler spells it: what is before
// the last slash.
func folder(path string) string {
	if i := strings.LastIndexByte(path, '/'); i > 0 {
		return path[:i]
	}
	if strings.HasPrefix(path, "/") {
		return "/"
	}
	return "."
}
