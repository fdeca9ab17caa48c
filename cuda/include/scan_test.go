package include

import (
	"slices"
	"strings"
	"testing"
)

// directives lists the directives of a text, each as its kind and what follows.
func directives(text string, d dialect) []string {
	var all []string
	for _, d := range scan([]byte(text), d) {
		switch d.kind {
		case kindDefine:
			all = append(all, "define "+string(d.text))
		case kindCondition:
			all = append(all, "if "+string(d.text))
		default:
			all = append(all, []string{"", "next ", "embed "}[d.kind]+string(d.text))
		}
	}
	return all
}

func TestEveryFormOfADirectiveIsFound(t *testing.T) {
	modern := dialectOf("")
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"angle", "#include <a.h>\n", []string{"<a.h>"}},
		{"quotes", "#include \"a.h\"\n", []string{`"a.h"`}},
		{"no newline at the end", "#include <a.h>", []string{"<a.h>"}},
		{"blanks", " \t#\t include\t<a.h> \n", []string{"<a.h>"}},
		{"form feeds", "\f\v #\f include\v\"a.h\"\n", []string{`"a.h"`}},
		{"no blank", "#include<a.h>\n#include\"b.h\"\n", []string{"<a.h>", `"b.h"`}},
		{"blanks in the name", "#include < a .h >\n", []string{"< a .h >"}},
		{"carriage returns", "#include <a.h>\r\n#include <b.h>\r\n", []string{"<a.h>", "<b.h>"}},
		{"byte order mark", "\ufeff#include <a.h>\n", []string{"<a.h>"}},
		{"next", "#include_next <a.h>\n", []string{"next <a.h>"}},
		{"embed", "#embed <a.bin> limit(3)\n", []string{"embed <a.bin>"}},
		{"import", "#import <a.h>\n", []string{"<a.h>"}},
		{"digraph", "%:include <a.h>\n", []string{"<a.h>"}},
		{"splice in the digraph", "%\\\n:include <a.h>\n", []string{"<a.h>"}},
		{"splice in the word", "#inc\\\nlude <a.h>\n", []string{"<a.h>"}},
		{"splice in the name", "#include <a\\\n.h>\n", []string{"<a.h>"}},
		{"splice with carriage return", "#inc\\\r\nlude <a\\\r\n.h>\n", []string{"<a.h>"}},
		{"splice behind the hash", "#\\\n include \\\n <a.h>\n", []string{"<a.h>"}},
		{"splice before the hash", "\\\n#include <a.h>\n", []string{"<a.h>"}},
		{"comments", "/* x */ # /* y\n */ include /* z */ <a.h> // w\n", []string{"<a.h>"}},
		{"comment over lines before", "/* x\n y */ #include <a.h>\n", []string{"<a.h>"}},
		{"comment over lines behind code", "int a; /*\n*/ #include <a.h>\n#define A /*\n*/ #include <b.h>\n#include <c.h>\n", []string{"<a.h>", "define  A   #include <b.h>", "<c.h>"}},
		{"comment marks in the name", "#include <a//b.h>\n#include \"c//d.h\"\n", []string{"<a//b.h>", `"c//d.h"`}},
		{"computed", "#include A(b) // c\n", []string{"A(b)"}},
		{"computed over lines", "#include A(\\\n b)\n", []string{"A( b)"}},
		{"in a dead branch", "#if 0\n#include <a.h>\n#endif\n", []string{"<a.h>"}},
		{"in comments", "// #include <a.h>\n/*\n#include <b.h>\n*/\n//\\\n#include <c.h>\n/\\\n/ \\\n#include <d.h>\n/\\\n*\n#include <e.h>\n*\\\n/\n", nil},
		{"in a string", "char s[] = \"\\\n#include <a.h>\\\n\";\n", nil},
		{"behind code", "int x; #include <a.h>\n", nil},
		{"in a raw string", "auto s = R\"x(\n#include <a.h>\n)\" \n)x\";\n#include <b.h>\n", []string{"<b.h>"}},
		{"in raw strings with prefixes", "f(u8R\"(\n#include <a.h>\n)\", LR\"(\n#include <b.h>\n)\", UR\"(\n#include <c.h>\n)\")\n#include <d.h>\n", []string{"<d.h>"}},
		{"word that ends in R", "FOUR\"(\n#include <a.h>\n//)\"\n", []string{"<a.h>"}},
		{"comment in a string", "char s[] = \"/*\";\n#include <a.h>\n", []string{"<a.h>"}},
		{"quote in a character", "char c = '\"';\n#include <a.h>\nchar d = '\"';\n", []string{"<a.h>"}},
		{"escaped quote", "char c = '\\'', s[] = \"\\\"/*\";\n#include <a.h>\n", []string{"<a.h>"}},
		{"digits apart", "int i = 1'000'000; /*'*/\n#include <a.h>\nint j = 0x'f;\n/*\n#include <b.h>\n*/", []string{"<a.h>"}},
		{"prefixed character", "int c = u8'\"';\n#include <a.h>\nint d = L'\"';\n", []string{"<a.h>"}},
		{"apostrophe in text", "#error don't /* worry\n#include <a.h>\n", []string{"<a.h>"}},
		{"apostrophe, then what may be a comment", "#error don't\n/*\n#include <a.h>\n*/\n#include <b.h>\n", []string{"<a.h>", "<b.h>"}},
		{"apostrophe, then what may be a raw string", "#error don't\nR\"(\n#include <a.h>\n)\"\n#include <b.h>\n", []string{"<a.h>", "<b.h>"}},
		{"comment without an end", "/*\n#include <a.h>\n", []string{"<a.h>"}},
		{"raw string without an end", "R\"x(\n#include <a.h>\n)y\"\n", []string{"<a.h>"}},
		{"name without an end", "#include <a.h\n#include <b.h>\n", []string{"<b.h>"}},
		{"define", "#define A(x) <x> // y\n", []string{"define  A(x) <x>"}},
		{"define over lines", "#define A \\\n  <a.h>\n", []string{"define  A   <a.h>"}},
		{"condition", "#if X && __has_include(<a//b.h>) // c\n#elif __has_include(\"c.h\")\n", []string{"if  X && __has_include(<a//b.h>)", "if  __has_include(\"c.h\")"}},
		{"trigraphs of old", "??=include <a.h>\n", nil},
		{"other directives", "#pragma once\n#undef X\n#line 3 \"x.h\"\n# 1 \"y.h\"\n#\n#include <a.h>\n", []string{"<a.h>"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := directives(c.text, modern)
			for i := range got {
				got[i] = strings.TrimRight(got[i], " \r\n")
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%q\nfound %q\nwant  %q", c.text, got, c.want)
			}
		})
	}
}

func TestStandardDecidesOnTrigraphsAndRawStrings(t *testing.T) {
	trigraphs := "??=include <a.h>\n//??/\n#include <b.h>\n"
	raw := "char s[] = R\"(\";\n#include <a.h>\n//)\"\n"
	for standard, want := range map[string]struct{ trigraphs, raw []string }{
		"c++03": {[]string{"<a.h>"}, []string{"<a.h>"}},
		"c++14": {[]string{"<a.h>"}, nil},
		"c++17": {[]string{"<b.h>"}, nil},
		"":      {[]string{"<b.h>"}, nil},
	} {
		if got := directives(trigraphs, dialectOf(standard)); !slices.Equal(got, want.trigraphs) {
			t.Errorf("%s: trigraphs: %q", standard, got)
		}
		if got := directives(raw, dialectOf(standard)); !slices.Equal(got, want.raw) {
			t.Errorf("%s: raw string: %q", standard, got)
		}
	}
}

func TestMacrosExpandInEveryWay(t *testing.T) {
	for _, c := range []struct {
		name, defines, line string
		want                []string
	}{
		{"object", "A <a.h>", "A", []string{"<a.h>"}},
		{"function", "A(x) <x>", "A(b.h)", []string{"<b.h>"}},
		{"function without a call", "A(x) <x>", "A", []string{"A"}},
		{"stringified", "S(x) T(x)\nT(x) #x\nF a.h", "S(F)", []string{`"a.h"`}},
		{"stringified at once", "S(x) #x\nF a.h", "S(F)", []string{`"F"`}},
		{"pasted", "P(a,b) <a##b.h>", "P(x,y)", []string{"<xy.h>"}},
		{"two definitions", "A <a.h>\nA <b.h>", "A", []string{"<a.h>", "<b.h>"}},
		{"nested", "R x/y\nI(f) <R/f>", "I(z.h)", []string{"<x/y/z.h>"}},
		{"itself", "A A", "A", []string{"A"}},
		{"each other", "A B\nB A", "A", []string{"A", "B"}},
		{"variadic", "V(...) <__VA_ARGS__>", "V(a,b)", []string{"<a,b>"}},
		{"named variadic", "V(x...) <x>", "V(a,b)", []string{"<a,b>"}},
		{"call made by another", "A B\nB(x) <x>", "A(c.h)", []string{"<c.h>"}},
		{"not defined", "", "A(b)", []string{"A(b)"}},
		{"parentheses in an argument", "A(x) x", "A((b,c))", []string{"(b,c)"}},
		{"too few arguments", "A(x,y) <x/y>", "A(b)", []string{"<b/>"}},
		{"white space", "A <a  .h>", "A", []string{"<a .h>"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := macros{}
			for line := range strings.Lines(c.defines) {
				m.define([]byte(" " + strings.TrimSuffix(line, "\n")))
			}
			got, unknown := m.expand([]byte(c.line))
			for _, want := range c.want {
				if !slices.Contains(got, want) {
					t.Errorf("%q not among %q, %s", want, got, unknown)
				}
			}
		})
	}
}

func TestExpansionHasAnEnd(t *testing.T) {
	m := macros{}
	for _, d := range []string{"A B B B B", "A B C B C", "B C C C C", "B A A A", "C A B", "C B C A A", "F(x) F(x x) F(F(x))"} {
		m.define([]byte(d))
	}
	for _, line := range []string{"A A A A", "F(A)", "F(F(F(F(A))))"} {
		if _, unknown := m.expand([]byte(line)); unknown == "" {
			t.Errorf("%s: every way is known", line)
		}
	}
}

func TestWhatOnlyNVRTCKnowsIsUnknown(t *testing.T) {
	m := macros{}
	m.define([]byte("S(x) T(x)"))
	m.define([]byte("T(x) #x"))
	for _, name := range []string{"__CUDA_ARCH__", "__LINE__", "__cplusplus", "__FILE__", "CUDART_VERSION", "__CUDACC_VER_MAJOR__"} {
		if _, unknown := m.expand([]byte("<" + name + ".h>")); unknown == "" {
			t.Errorf("%s is known", name)
		}
	}
	for _, name := range []string{"cuda", "X__CUDA_ARCH__", "__MINE__", "linux"} {
		if _, unknown := m.expand([]byte("<" + name + ".h>")); unknown != "" {
			t.Errorf("%s: %s", name, unknown)
		}
	}
}
