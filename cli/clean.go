package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"
)

// style is how a text looks. It is written as NUL and a letter, which no text that is
// printed contains: names, paths and variables have no NUL.
type style string

const (
	bold   style = "\x00b"
	red    style = "\x00r"
	yellow style = "\x00y"
	plain  style = "\x00-"
)

var codes = map[byte]string{'b': "\x1b[1m", 'r': "\x1b[31m", 'y': "\x1b[33m", '-': "\x1b[0m"}

// clean is what a command prints to. Anybody may have chosen a name, a path or what a
// variable says, so what would move a terminal's cursor, clear it or turn its text
// around is written as an escape, \x1b or \u009b; in JSON, where the encoder has done so
// with what is below a space, that is an escape of JSON. Styles become colours, or
// nothing.
type clean struct {
	w       io.Writer
	colours bool
	left    []byte // the beginning of a rune
	err     error  // of the first write that has failed
}

func (c *clean) Write(p []byte) (int, error) {
	in := append(c.left, p...)
	out := make([]byte, 0, len(in)+16)
	for len(in) > 0 && (utf8.FullRune(in) && (in[0] != 0 || len(in) > 1)) {
		r, n := utf8.DecodeRune(in)
		switch {
		case r == 0:
			if n = 2; c.colours {
				out = append(out, codes[in[1]]...)
			}
		case r == utf8.RuneError && n == 1:
			out = fmt.Appendf(out, `\x%02x`, in[0])
		case r == '\n', r == '\t':
			out = append(out, in[0])
		case r < ' ':
			out = fmt.Appendf(out, `\x%02x`, r)
		case harms(r):
			out = fmt.Appendf(out, `\u%04x`, r)
		default:
			out = append(out, in[:n]...)
		}
		in = in[n:]
	}
	c.left = append([]byte(nil), in...)
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

// harms says of a rune from a space on whether a terminal would obey it.
func harms(r rune) bool {
	return r == 0x7f || r >= 0x80 && r < 0xa0 || unicode.Is(unicode.Bidi_Control, r) || r == 0x2028 || r == 0x2029
}

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
