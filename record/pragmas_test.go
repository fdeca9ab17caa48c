// Times count where a source compares them.

package record

import "testing"

//jitcache:control nodependency gcc clang operator header continued
func TestTimesCountWhereASourceComparesThem(t *testing.T) {
	for name, c := range map[string]struct {
		compiler, text, header string
		counts                 bool
	}{
		"gcc":       {"gcc", "#pragma GCC dependency \"parse.y\"\n", "", true},
		"clang":     {"clang", "#pragma clang dependency \"parse.y\"\n", "", true},
		"operator":  {"gcc", "_Pragma(\"GCC dependency \\\"parse.y\\\"\")\n", "", true},
		"header":    {"gcc", "#include \"a.h\"\n", "#pragma GCC dependency \"parse.y\" stale\n", true},
		"continued": {"gcc", "#pragma GCC \\\n dependency \"parse.y\"\n", "", true},
		"none":      {"gcc", "/* a dependency of GCC */\n", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.put("a.h", c.header)
			w.put("a.c", c.text+"int a;\n")
			grammar := w.put("parse.y", "")
			settle()
			l := w.takenOf(c.compiler, "-I.", "-c", "a.c", "-o", "a.o")
			w.date(grammar)
			w.compare(l, c.counts, "parse.y: modification time changed")
		})
	}
}
