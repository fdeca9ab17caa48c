package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"jitcache/core/plain"
)

// style is how a text looks. It is written as NUL and a letter, which no text that is
// printed contains: names, paths and variables have no NUL.
type style string

const (
	bold   style = "\x00b"
	red    style = "\x00r"
	yellow style = "\x00y"
	normal style = "\x00-"
)

var codes = map[byte]string{'b': "\x1b[1m", 'r': "\x1b[31m", 'y': "\x1b[33m", '-': "\x1b[0m"}

// clean is what a command prints to: what a terminal would obey is written as an escape,
// as package plain does; in JSON, where the encoder has done so with what is below a
// space, that is an escape of JSON. Styles become colours, or nothing.
type clean struct {
	w       io.Writer
	colours bool
	left    []byte // the beginning of a rune
	out     []byte // what is written, kept for the next: a list may be of a million
	err     error  // of the first write that has failed
}

func (c *clean) Write(p []byte) (int, error) {
	in, out := p, c.out[:0]
	if len(c.left) > 0 {
		in = append(c.left, p...)
	}
	for len(in) > 0 && (utf8.FullRune(in) && (in[0] != 0 || len(in) > 1)) {
		n := 1
		switch in[0] {
		case 0:
			if n = 2; c.colours {
				out = append(out, codes[in[1]]...)
			}
		case '\n', '\t':
			out = append(out, in[0])
		default:
			out, n = plain.Rune(out, in)
		}
		in = in[n:]
	}
	c.left, c.out = append([]byte(nil), in...), out
	if _, err := c.w.Write(out); err != nil {
		if c.err == nil {
			c.err = err
		}
		return 0, err
	}
	return len(p), nil
}

// line returns a text of somebody else for a line or a column of what is printed: clean
// lets the ends of both through, and a name with one in it would be rows that there are not.
func line(text string) string { return ends.Replace(text) }

var ends = strings.NewReplacer("\n", `\x0a`, "\t", `\x09`)

// end writes what is left of a text that ended within a rune.
func (c *clean) end() {
	for _, b := range c.left {
		fmt.Fprintf(c.w, `\x%02x`, b)
	}
	c.left = nil
}

// colours says whether a stream shows them: https://no-color.org has the rule.
func colours(w io.Writer, env func(string) string) bool {
	f, ok := w.(*os.File)
	return ok && isTerminal(f) && env("NO_COLOR") == "" && env("TERM") != "dumb"
}
