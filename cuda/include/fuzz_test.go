package include

import (
	"strings"
	"testing"
)

// model is a preprocessor of the simplest kind: it joins lines, takes out
// comments, and reads the names in lines that begin with #include. It knows no
// raw strings.
func modelNames(text string) (names []string) {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\\\r\n", ""), "\\\n", "")
	for line := range strings.Lines(withoutComments(text)) {
		line = strings.TrimLeft(line, " \t\v\f\r")
		rest, ok := strings.CutPrefix(line, "#")
		if !ok {
			if rest, ok = strings.CutPrefix(line, "%:"); !ok {
				continue
			}
		}
		rest, ok = strings.CutPrefix(strings.TrimLeft(rest, " \t\v\f\r"), "include")
		if rest = strings.TrimLeft(rest, " \t\v\f\r"); !ok || len(rest) < 2 {
			continue
		}
		closing := map[byte]string{'<': ">", '"': `"`}[rest[0]]
		if end := strings.Index(strings.TrimRight(rest[1:], "\n"), closing); closing != "" && end >= 0 {
			names = append(names, rest[:end+2])
		}
	}
	return names
}

// withoutComments puts a blank for each comment. It does not look into literals
// and names in angle brackets; those end with their line.
func withoutComments(text string) string {
	var out strings.Builder
	for i := 0; i < len(text); {
		rest := text[i:]
		n := 1
		switch {
		case strings.HasPrefix(rest, "//"):
			if n = strings.IndexByte(rest, '\n'); n < 0 {
				n = len(rest)
			}
			out.WriteByte(' ')
			i += n
			continue
		case strings.HasPrefix(rest, "/*"):
			if n = strings.Index(rest[2:], "*/"); n < 0 {
				return out.String()
			}
			out.WriteByte(' ')
			i += n + 4
			continue
		case rest[0] == '"' || rest[0] == '\'':
			n = literalSize(rest)
		}
		out.WriteString(rest[:n])
		i += n
	}
	return out.String()
}

func literalSize(text string) int {
	for n := 1; n < len(text); n++ {
		switch text[n] {
		case text[0]:
			return n + 1
		case '\\':
			n++
		case '\n':
			return n
		}
	}
	return len(text)
}

// Whatever the text, the scanner comes to an end, and finds all names that the
// model finds. The model does not know what the scanner does of raw strings,
// digits kept apart by quotes, and comment marks in names.
func FuzzScan(f *testing.F) {
	for _, seed := range []string{
		"#include <a.h>\n", "/* x */ # include \"b.h\" // y\n", "%:include <c>\n", "#inc\\\nlude <a\\\n.h>", "\"/*\"\n#include <a>\n",
		"'\"'\n#include <a>\n'\"'", "#error don't\n/*\n#include <a>\n*/", "R\"x(\n#include <a>\n)x\"", "#if __has_include(<a//b>)\n#endif",
		"#define A(x) \\\n  <x>\n#include A(b)", "//\\\n#include <a>\n", "??=include <a>\n", "1'000 '\"'\n", "#include <a/*b>\n#include <c>\n*/",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, standard := range []string{"", "c++03", "c++14"} {
			scan([]byte(text), dialectOf(standard))
		}
		if strings.Contains(text, `R"`) || strings.Contains(text, "\ufeff") || strings.ContainsAny(text, "'<") && strings.Contains(text, "/") {
			return
		}
		found := map[string]int{}
		for _, d := range scan([]byte(text), dialect{}) {
			if d.kind == kindInclude {
				found[string(d.text)]++
			}
		}
		for _, name := range modelNames(text) {
			if found[name]--; found[name] < 0 {
				t.Fatalf("%q: the model finds %q, the scanner %q", text, modelNames(text), directives(text, dialect{}))
			}
		}
	})
}

// The expander comes to an end, whatever is defined.
func FuzzExpand(f *testing.F) {
	f.Add("A(x) <x>\nB A(c.h)", "B")
	f.Add("S(x) #x\nP(a,b) a##b\nV(...) S(__VA_ARGS__)", "V(P(a,b), c)")
	f.Add("A B\nB A A\nF(x,y...) y x", "F(A,B,A)")
	f.Fuzz(func(t *testing.T, defines, line string) {
		m := macros{}
		for d := range strings.Lines(defines) {
			m.define([]byte(strings.TrimSuffix(d, "\n")))
		}
		lines, _ := m.expand([]byte(line))
		for _, l := range lines {
			namesIn(l)
		}
	})
}
