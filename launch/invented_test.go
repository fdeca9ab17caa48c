// Which paths invented names match.

package launch

import (
	"slices"
	"strings"
	"testing"

	"jitcache/record"
)

func TestInventedNamesAreFound(t *testing.T) {
	for _, c := range []struct{ rule, dir, words, want string }{
		{"T=/tmp/*", "/home", "-c /tmp/ab/x.c -o /tmp/ab/x.o", "T=/tmp/ab"},
		{"T=/tmp/*", "/tmp/ab/build", "-c x.c", "T=/tmp/ab"},
		{"T=/tmp/*", "/home", "-I/tmp/ab -L/tmp/cd,/tmp/ab", "T=/tmp/ab T.2=/tmp/cd"},
		{"T=/tmp/x*_y", "/home", "/tmp/xab_y/a /tmp/xab_z/a", "T=/tmp/xab_y"},
		{"T=/tmp/*", "/home", "-o /tmp/ab/tmp/cd.o", "T=/tmp/ab T.2=/tmp/cd.o"},
		{"B=/src/me", "/src/me/build", "/src/me/a.c /src/meh/b.c", "B=/src/me"},
		{"T=/tmp/*", "/home", "-c a.c /tmp /tmp/", ""},
	} {
		in, ok := ParseInvented(c.rule)
		if !ok {
			t.Fatalf("%q is no rule", c.rule)
		}
		var got []string
		for _, p := range find([]Invented{in}, c.dir, strings.Fields(c.words)) {
			got = append(got, p.Name+"="+p.Path)
		}
		if !slices.Equal(got, strings.Fields(c.want)) {
			t.Errorf("%q in %q and %q: %q, want %q", c.rule, c.dir, c.words, got, c.want)
		}
	}
}

// The words of one caller in two processes come to the same.
func TestWordsOfOneCallerAreTheSame(t *testing.T) {
	in, _ := ParseInvented("T=/tmp/*")
	marked := func(words string) string {
		all := strings.Fields(words)
		places := find([]Invented{in}, "/home", all)
		for i := range all {
			all[i] = record.Mark(all[i], places)
		}
		return strings.Join(all, " ")
	}
	// Pythran's: an object below a folder, by the whole path of its source.
	first := marked("g++ -c /tmp/tmpbn.cpp -o /tmp/tmpjf/tmp/tmpbn.o")
	second := marked("g++ -c /tmp/tmpx_longer.cpp -o /tmp/tmpq/tmp/tmpx_longer.o")
	if first != second || strings.Contains(first, "tmpbn") {
		t.Errorf("%q and %q", first, second)
	}
}

func TestRulesThatCannotBe(t *testing.T) {
	for _, rule := range []string{"", "T", "T=", "T=rel", "=/tmp/*", "T=/", "a/b=/tmp", "T=/tmp/[", "a\x01=/tmp"} {
		if in, ok := ParseInvented(rule); ok {
			t.Errorf("%q is the rule %+v", rule, in)
		}
	}
}
