// Foreign text becomes one line that no terminal obeys.

package plain

import (
	"testing"
	"unicode/utf8"
)

func TestLineIsOneLineThatNothingObeys(t *testing.T) {
	for text, want := range map[string]string{
		"":                         "",
		"a plain name":             "a plain name",
		"größer als 你好":            "größer als 你好",
		"two\nlines\tand a tab":    "two lines and a tab",
		"\x1b[2J\a\x00":            `\x1b[2J\x07\x00`,
		"\u009b31m\u202egnp\u2028": `\u009b31m\u202egnp\u2028`,
		"\xff\x7f\xe4\xbd":         `\xff\u007f\xe4\xbd`,
		"the rune \ufffd itself":   "the rune \ufffd itself",
	} {
		if got := Line(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func FuzzLine(f *testing.F) {
	f.Add("evil\x1b[2J\u009b\u202e\x7f\xffname\n")
	f.Fuzz(func(t *testing.T, text string) {
		line := Line(text)
		for _, r := range line {
			if Obeyed(r) {
				t.Errorf("%q in %q", r, line)
			}
		}
		if !utf8.ValidString(line) || Line(line) != line {
			t.Errorf("%q", line)
		}
	})
}
