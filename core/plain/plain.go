// Package plain writes text from others so that a terminal shows it and does not obey
// it: anybody may have chosen a name, a path or the value of a variable.
package plain

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Obeyed reports whether a terminal, or a reader of lines, would obey a rune: those that
// move the cursor, clear the screen, change the direction of text or end a line.
func Obeyed(r rune) bool {
	return r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || unicode.Is(unicode.Bidi_Control, r) || r == 0x2028 || r == 0x2029
}

// Rune appends the first rune of in to out, and returns how many bytes of in it has. A
// rune that would be obeyed, and a byte that is not part of one, become escapes: \x1b,
// \u009b, \xff.
func Rune(out, in []byte) ([]byte, int) {
	r, n := utf8.DecodeRune(in)
	switch {
	case r == utf8.RuneError && n <= 1:
		if n == 0 {
			return out, 0
		}
		return fmt.Appendf(out, `\x%02x`, in[0]), 1
	case r < ' ':
		return fmt.Appendf(out, `\x%02x`, r), n
	case Obeyed(r):
		return fmt.Appendf(out, `\u%04x`, r), n
	}
	return append(out, in[:n]...), n
}

// Line returns a text as one line. Line ends and tabs become blanks; all else is as Rune
// writes it.
func Line(text string) string {
	if isPlain(text) {
		return text
	}
	in := []byte(blanks.Replace(text))
	out := make([]byte, 0, len(in)+16)
	for len(in) > 0 {
		var n int
		out, n = Rune(out, in)
		in = in[n:]
	}
	return string(out)
}

var blanks = strings.NewReplacer("\n", " ", "\t", " ")

func isPlain(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return true
}
