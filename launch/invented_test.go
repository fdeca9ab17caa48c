// Which paths invented names match.

package launch

import (
	"slices"
	"strings"
	"testing"

	"jitcache/record"
)

func TestInventedNamesAreFound(t *testing.T) {
	for _, c := range []struct{ rule, dir, words, env, want string }{
		{"T=/tmp/*", "/home", "-c /tmp/ab/x.c -o /tmp/ab/x.o", "", "T=/tmp/ab"},
		{"T=/tmp/*", "/tmp/ab/build", "-c x.c", "", "T=/tmp/ab"},
		{"T=/tmp/*", "/home", "-I/tmp/ab -L/tmp/cd,/tmp/ab", "", "T=/tmp/ab T.2=/tmp/cd"},
		{"T=/tmp/x*_y", "/home", "/tmp/xab_y/a /tmp/xab_z/a", "", "T=/tmp/xab_y"},
		{"T=/tmp/*", "/home", "-o /tmp/ab/tmp/cd.o", "", "T=/tmp/ab T.2=/tmp/cd.o"},
		{"B=/src/me", "/src/me/build", "/src/me/a.c /src/meh/b.c", "", "B=/src/me"},
		{"T=/tmp/*", "/home", "-c a.c /tmp /tmp/", "", ""},
		{"T=/tmp/*", "/home", "-c a.c", "B=/tmp/b A=x:/tmp/a/i JITCACHE_DIR=/tmp/c SSH_AUTH_SOCK=/tmp/d/s", "T=/tmp/a T.2=/tmp/b"},
		{"T=/tmp/*", "/tmp", "gcc -c -O2 a.c -o b.o", "", ""}, // "-O2" would match
		{"T=/w/.*.tmp", "/w", "-c a.c -o .12.tmp", "", "T=/w/.12.tmp T{relative=.12.tmp"},
		{"T=/w/.*.tmp", "/w", "-o.12.tmp x.13.tmp ./.14.tmp", "", "T=/w/.12.tmp T{relative=.12.tmp T.2=/w/.14.tmp T.2{relative=.14.tmp"},
		{"T=/w/o-*/*.o", "/w", "-c a.c -o o-1/a.o", "", "T=/w/o-1/a.o T{relative=o-1/a.o"},
		{"T=/w-*/*.o", "/w-1", "-oa.o -Wl,b.o", "", "T=/w-1/b.o T{relative=b.o"}, // an option may end in a letter
		{"T=./*.tmp", "/w", "a.tmp /w/b.tmp /v/c.tmp", "O=-1.tmp:d.tmp", "T=/w/a.tmp T{relative=a.tmp T.2=/w/b.tmp T.3=/w/d.tmp T.3{relative=d.tmp"},
	} {
		in, ok := ParseInvented(c.rule)
		if !ok {
			t.Fatalf("%q is no rule", c.rule)
		}
		var got []string
		places, _ := find([]Invented{in}, c.dir, strings.Fields(c.words), strings.Fields(c.env))
		for _, p := range places {
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
		places, _ := find([]Invented{in}, "/home", all, nil)
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
	for _, rule := range []string{"", "T", "T=", "T=rel", "=/tmp/*", "T=/", "a/b=/tmp", "T=/tmp/[", "a\x01=/tmp", "T=./*", "T=./*/x", "T=./../x", "T=./"} {
		if in, ok := ParseInvented(rule); ok {
			t.Errorf("%q is the rule %+v", rule, in)
		}
	}
}

// Names are told apart, whatever rules there are.
func TestNoTwoPlacesHaveOneName(t *testing.T) {
	var rules []Invented
	for _, rule := range []string{"T=/a/*", "T.2=/b/*"} {
		in, _ := ParseInvented(rule)
		rules = append(rules, in)
	}
	places, _ := find(rules, "/home", strings.Fields("/a/1 /a/2 /b/1 /b/2"), nil)
	names := map[string]bool{}
	for _, p := range places {
		names[p.Name] = true
	}
	if len(places) != 4 || len(names) != 4 {
		t.Errorf("%v", places)
	}
}
