// The writer that commands print to: it escapes what a terminal would obey, and colours.

package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"jitcache/core/plain"
)

// style is how a text looks. It is written as NUL and a letter. No other printed text
// contains a NUL: names, paths and variables have none.
type style string

const (
	bold   style = "\x00b"
	red    style = "\x00r"
	yellow style = "\x00y"
	normal style = "\x00-"
)

var codes = map[byte]string{'b': "\x1b[1m", 'r': "\x1b[31m", 'y': "\x1b[33m", '-': "\x1b[0m"}

// clean is the writer that a command prints to. It escapes what a terminal would obey, as
// package plain does. In JSON, the encoder has already escaped the characters below a
// space. Styles become colours, or nothing.
type clean struct {
	w       io.Writer
	colours bool
	left    []byte // the first bytes of a rune whose end has not come yet
	out     []byte // a buffer, reused because a list may have a million entries
	err     error  // the error of the first write that failed
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

// line prepares a foreign text for a table. It escapes newlines and tabs, because clean
// lets both through: a name with a newline in it would look like another row.
func line(text string) string { return ends.Replace(text) }

var ends = strings.NewReplacer("\n", `\x0a`, "\t", `\x09`)

// writeRest writes the bytes of a rune that the text ended within.
func (c *clean) writeRest() {
	for _, b := range c.left {
		fmt.Fprintf(c.w, `\x%02x`, b)
	}
	c.left = nil
}

// colours reports whether to write colours to a stream, by the rule of https://no-color.org.
func colours(w io.Writer, env func(string) string) bool {
	f, ok := w.(*os.File)
	return ok && isTerminal(f) && env("NO_COLOR") == "" && env("TERM") != "dumb"
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}
