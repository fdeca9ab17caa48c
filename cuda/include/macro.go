package include

import (
	"bytes"
	"strings"
)

// macros are all definitions of every name, wherever they stand: which of them
// holds at a directive is not asked.
type macros map[string][]*macro

// macro is one definition. The body is split when it is first needed.
type macro struct {
	params   []string
	function bool
	variadic bool // the last parameter takes the rest
	raw      []byte
	body     []token
	split    bool
}

// token is a token of the preprocessor.
type token struct {
	text  string
	space bool  // white space before it
	word  bool  // an identifier
	hide  *hide // macros that must not be replaced in it again
}

type hide struct {
	name string
	next *hide
}

func (h *hide) has(name string) bool {
	for ; h != nil; h = h.next {
		if h.name == name {
			return true
		}
	}
	return false
}

// definition returns what follows #define for the value of a -D.
func definition(value string) []byte {
	head, body, ok := strings.Cut(value, "=")
	if !ok {
		body = "1"
	}
	return []byte(strings.TrimLeft(head, " ") + " " + body)
}

// define adds a definition: what follows #define.
func (m macros) define(text []byte) {
	name, rest := leadingWord(bytes.TrimLeft(text, " \t\v\f"))
	if len(name) == 0 {
		return
	}
	d := &macro{raw: rest}
	if len(rest) > 0 && rest[0] == '(' {
		list, body, ok := bytes.Cut(rest[1:], []byte(")"))
		if !ok {
			return
		}
		d.function, d.raw = true, body
		d.parameters(list)
	}
	for _, other := range m[string(name)] {
		if other.equal(d) {
			return
		}
	}
	m[string(name)] = append(m[string(name)], d)
}

func (d *macro) equal(other *macro) bool {
	return d.function == other.function && bytes.Equal(bytes.TrimSpace(d.raw), bytes.TrimSpace(other.raw)) &&
		strings.Join(d.params, ",") == strings.Join(other.params, ",")
}

func (d *macro) parameters(list []byte) {
	for _, p := range bytes.Split(list, []byte(",")) {
		p = bytes.TrimSpace(p)
		if before, ok := bytes.CutSuffix(p, []byte("...")); ok {
			d.variadic = true
			p = bytes.TrimSpace(before)
			if len(p) == 0 {
				p = []byte("__VA_ARGS__")
			}
		}
		if len(p) > 0 {
			d.params = append(d.params, string(p))
		}
	}
}

func (d *macro) tokens() []token {
	if !d.split {
		d.body, d.split = split(d.raw), true
	}
	return d.body
}

func (d *macro) param(t token) int {
	if t.word {
		for i, p := range d.params {
			if p == t.text {
				return i
			}
		}
	}
	return -1
}

func leadingWord(text []byte) (word, rest []byte) {
	n := 0
	for n < len(text) && isWord(text[n]) {
		n++
	}
	return text[:n], text[n:]
}

// split splits a line without comments into tokens.
func split(text []byte) []token {
	var all []token
	space := false
	for len(text) > 0 {
		n, t := 1, token{space: space}
		switch c := text[0]; {
		case c == ' ', '\t' <= c && c <= '\r':
			text, space = text[1:], true
			continue
		case isWord(c):
			for n < len(text) && (isWord(text[n]) || text[n] == '.' && '0' <= c && c <= '9') {
				n++
			}
			t.word = c < '0' || c > '9'
		case c == '"' || c == '\'':
			for n < len(text) && text[n] != c {
				n += 1 + int(bit(text[n] == '\\'))
			}
			n = min(n+1, len(text))
		case c == '#' && len(text) > 1 && text[1] == '#':
			n = 2
		}
		t.text = string(text[:n])
		all = append(all, t)
		text, space = text[n:], false
	}
	return all
}

// predefined reports whether NVRTC may have a definition of its own for a name:
// what it expands to is then not known. The prefixes cover the 600 that 12.9
// and 13.5 have, and the names of later standards.
func predefined(name string) bool {
	for _, prefix := range []string{
		"__CUDA", "__cplusplus", "__cpp_", "__STDC", "__EDG", "__NV", "_NV_", "NV_", "CUDART", "CUDA_", "__SM_", "__LP64__",
		"__LINE__", "__FILE", "__BASE_FILE__", "__INCLUDE_LEVEL__", "__DATE__", "__TIME", "__COUNTER__",
	} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return len(name) > 4 && name[:4] == "cuda" && 'A' <= name[4] && name[4] <= 'Z'
}
