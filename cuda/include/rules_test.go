package include

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const kernel = "__global__ void k(int *p) { *p = V; }\n"

// rule is a small tree and a program, and which files its closure has.
type rule struct {
	name  string
	files map[string]string
	links map[string]string
	req   Request
	want  string // the files of the closure, sorted, with blanks between
	fails bool   // the compile does
}

func (r *rule) make(t *testing.T) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	for path, text := range r.files {
		write(t, path, text)
	}
	for path, to := range r.links {
		os.MkdirAll(filepath.Dir(path), 0o755)
		if err := os.Symlink(to, path); err != nil {
			t.Fatal(err)
		}
	}
	if r.req.Name == "" {
		r.req.Name = "k.cu"
	}
	r.req.Source += kernel
}

type tree = map[string]string

const v1, v2 = "#define V 1\n", "#define V 2\n"

func rules() []rule {
	inc, inc2 := []string{"inc"}, []string{"inc", "inc2"}
	return []rule{
		{"quotes begin in the folder of the source", tree{"s/a.h": v1, "a.h": v2, "inc/a.h": v2}, nil, Request{Source: "#include \"a.h\"\n", Name: "s/k.cu", Dirs: inc}, "s/a.h", false},
		{"angle brackets do not", tree{"a.h": v2, "inc/a.h": v1}, nil, Request{Source: "#include <a.h>\n", Dirs: inc}, "inc/a.h", false},
		{"first of the search path", tree{"inc2/a.h": v2, "inc/a.h": v1}, nil, Request{Source: "#include <a.h>\n", Dirs: inc2}, "inc/a.h", false},
		{"no source folder", tree{"a.h": v2, "inc/a.h": v1, "inc/b.h": "#include \"c.h\"\n", "inc/c.h": ""}, nil, Request{Source: "#include <b.h>\n#include \"a.h\"\n", Dirs: inc, NoSourceInclude: true}, "inc/a.h inc/b.h inc/c.h", false},
		{"quotes begin in the folder of the header", tree{"inc/x/a.h": "#include \"b.h\"\n", "inc/x/b.h": v1, "inc/b.h": v2, "b.h": v2}, nil, Request{Source: "#include <x/a.h>\n", Dirs: inc}, "inc/x/a.h inc/x/b.h", false},
		{"not in that of who includes the header", tree{"inc/a.h": "#include \"x/b.h\"\n", "inc/x/b.h": "#include \"c.h\"\n", "inc2/c.h": v1, "c.h": v2}, nil, Request{Source: "#include <a.h>\n", Dirs: inc2}, "inc/a.h inc/x/b.h inc2/c.h", false},
		{"folder of a link, not of its end", tree{"real/a.h": "#include \"b.h\"\n", "real/b.h": v2, "inc/b.h": v1}, tree{"inc/a.h": "../real/a.h"}, Request{Source: "#include <a.h>\n", Dirs: inc}, "inc/a.h inc/b.h", false},
		{"up through a link", tree{"x/y/f": "", "x/a.h": v1, "a.h": v2}, tree{"l": "x/y"}, Request{Source: "#include \"l/../a.h\"\n"}, "l/../a.h", false},
		{"up from what is not there", tree{"a.h": v1, "inc/a.h": v2}, nil, Request{Source: "#include <../a.h>\n", Dirs: []string{"none", "inc"}}, "inc/../a.h", false},
		{"folder of the header's name", tree{"inc/a.h/f": "", "inc2/a.h": v1}, nil, Request{Source: "#include <a.h>\n", Dirs: inc2}, "inc2/a.h", false},
		{"suffix stdh", tree{"inc/foo.stdh": v1, "inc2/foo": v2}, nil, Request{Source: "#include <foo>\n", Dirs: inc2}, "inc/foo.stdh", false},
		{"suffix stdh with dots in the folder only", tree{"inc/a.b/foo.stdh": v1}, nil, Request{Source: "#include <a.b/foo>\n#if __has_include(<x.>) || __has_include(<.y>)\n#endif\n", Dirs: inc2}, "inc/a.b/foo.stdh", false},
		{"in memory first", tree{"a.h": v2, "inc/a.h": v2}, nil, Request{Source: "#include \"a.h\"\n", Dirs: inc, Headers: []Header{{"a.h", v1}}}, "a.h", false},
		{"in memory by the name as it is spelled", tree{"inc/a.h": v1}, nil, Request{Source: "#include <./a.h>\n", Dirs: inc, Headers: []Header{{"a.h", v2}}}, "inc/./a.h", false},
		{"in memory not relative to its includer", tree{"inc/x/a.h": "#include \"b.h\"\n", "inc/b.h": v1}, nil, Request{Source: "#include <x/a.h>\n", Dirs: inc, Headers: []Header{{"x/b.h", v2}, {"inc/x/b.h", v2}}}, "inc/b.h inc/x/a.h", false},
		{"from memory in the folder of its name", tree{"x/b.h": v1, "inc/b.h": v2}, nil, Request{Source: "#include <x/a.h>\n", Dirs: inc, Headers: []Header{{"x/a.h", "#include \"b.h\"\n"}}}, "x/b.h", false},
		{"in memory with no suffix", tree{"inc/foo.stdh": v1}, nil, Request{Source: "#include <foo>\n", Dirs: inc, Headers: []Header{{"foo.stdh", v2}}}, "inc/foo.stdh", false},
		{"before the source, from the working folder", tree{"p.h": v1, "s/p.h": v2, "inc/p.h": v2}, nil, Request{Name: "s/k.cu", Dirs: inc, PreIncludes: []string{"p.h"}}, "p.h", false},
		{"before the source, even without its folder", tree{"p.h": v1, "inc/p.h": v2}, nil, Request{Dirs: inc, PreIncludes: []string{"p.h"}, NoSourceInclude: true}, "p.h", false},
		{"before the source, from the search path", tree{"s/p.h": v2, "inc2/p.h": v1, "inc/q.h": ""}, nil, Request{Name: "s/k.cu", Dirs: inc2, PreIncludes: []string{"p.h", "q.h"}}, "inc/q.h inc2/p.h", false},
		{"before the source, from memory", tree{"p.h": v2}, nil, Request{PreIncludes: []string{"p.h"}, Headers: []Header{{"p.h", v1}}}, "p.h", false},
		{"next", tree{"a.h": "#include_next <a.h>\n", "inc/a.h": "#include_next \"a.h\"\n", "inc2/a.h": v1}, nil, Request{Source: "#include \"a.h\"\n", Dirs: inc2}, "a.h inc/a.h inc2/a.h", false},
		{"next of another name", tree{"inc/a.h": "#include_next <b.h>\n", "inc/b.h": v2, "inc2/b.h": v1}, nil, Request{Source: "#include <a.h>\n", Dirs: inc2}, "inc/a.h inc/b.h inc2/b.h", false},
		{"absolute from memory", tree{}, nil, Request{Source: "#include \"/no/such/m.h\"\n", Headers: []Header{{"/no/such/m.h", v1}}}, "", false},
		{"absolute without a suffix", tree{}, nil, Request{Source: "#include </no/such/m>\n"}, "", true},
		{"has_include opens", tree{"inc2/b.h": ""}, nil, Request{Source: "#if __has_include(\"a.h\") || !__has_include(<b.h>)\n#else\n#define V 1\n#endif\n", Dirs: inc2}, "inc2/b.h", false},
		{"has_include by macros", tree{"inc2/b.h": "", "inc/c.h": "", "inc/d.h": ""}, nil, Request{Source: "#define B <b.h>\n#define HAS(x) __has_include(x)\n#define TOO(x) HAS(x)\n#define D <d.h>\n#define C __has_include(<c.h>)\n#if __has_include(B) && HAS(<b.h>) && C && TOO(D)\n#define V 1\n#endif\n", Dirs: inc2}, "inc/c.h inc/d.h inc2/b.h", false},
		{"has_include in a body, for its user's folder", tree{"inc/sub/a.h": "#if HAS\n" + v1 + "#endif\n", "inc/sub/b.h": ""}, nil, Request{Source: "#define HAS __has_include(\"b.h\")\n#include <sub/a.h>\n", Dirs: inc}, "inc/sub/a.h inc/sub/b.h", false},
		{"has_include in a call in a body", tree{"inc/sub/a.h": "#if C\n" + v1 + "#endif\n", "inc/sub/b.h": ""}, nil, Request{Source: "#define C HAS3(B)\n#define HAS3(x) HAS2(x)\n#define HAS2 HAS\n#define HAS(x) __has_include(x)\n#define B \"b.h\"\n#include <sub/a.h>\n", Dirs: inc}, "inc/sub/a.h inc/sub/b.h", false},
		{"has_include from -D", tree{"inc/b.h": ""}, nil, Request{Source: "#if HAS\n#define V 1\n#endif\n", Dirs: inc, Macros: []string{"HAS=__has_include(<b.h>)"}}, "inc/b.h", false},
		{"has_include in code", tree{"inc/b.h": "", "inc/c.h": "", "inc/d.h": "", "e.h": ""}, nil, Request{Source: "#define HAS(x) __has_include(x)\n#define D <d.h>\n__device__ int b = __has_include /* */ (\n<b.h>), c = HAS(<c.h>) + HAS(\nD) + HAS(/* ) */ D // )\n);\n#pragma unroll __has_include(\"e.h\")\n#define V 1\n", Dirs: inc}, "e.h inc/b.h inc/c.h inc/d.h", false},
		{"computed", tree{"inc/a.h": v1}, nil, Request{Source: "#define A a.h\n#define Q(x) <x>\n#include Q(A)\n", Dirs: inc}, "inc/a.h", false},
		{"computed with blanks", tree{"inc/a .h": v1}, nil, Request{Source: "#define A a  .h\n#define Q(x) <x>\n#include Q(A)\n", Dirs: inc}, "inc/a .h", false},
		{"computed string", tree{"inc/s/a.h": v1}, nil, Request{Source: "#define S(x) T(x)\n#define T(x) #x\n#define D s\n#include S(D/a.h)\n", Dirs: inc}, "inc/s/a.h", false},
		{"computed from -D", tree{"inc/a.h": v1, "inc/b.h": ""}, nil, Request{Source: "#include A\n#include B(b)\n", Dirs: inc, Macros: []string{"A=\"a.h\"", "B(x)=<x.h>"}}, "inc/a.h inc/b.h", false},
		{"computed by a macro of a header that a computed include finds", tree{"inc/a.h": "#define B <b.h>\n", "inc/b.h": v1}, nil, Request{Source: "#define A <a.h>\n#include A\n#include B\n", Dirs: inc}, "inc/a.h inc/b.h", false},
		{"computed in all ways", tree{"inc/a.h": v1, "inc/b.h": v2}, nil, Request{Source: "#ifdef X\n#define A <b.h>\n#else\n#define A <a.h>\n#endif\n#include A\n", Dirs: inc}, "inc/a.h inc/b.h", false},
		{"computed from what NVRTC knows", tree{"inc/800.h": v1, "inc/x/900.h": v2}, nil, Request{Source: "#define S(x) T(x)\n#define T(x) #x\n#include S(__CUDA_ARCH__.h)\n", Name: "s/k.cu", Dirs: inc, NoSourceInclude: true}, "inc/800.h inc/x/900.h", false},
		{"line directive does not move the folder", tree{"inc/b.h": v2, "b.h": v1}, nil, Request{Source: "#line 1 \"inc/x.h\"\n#include \"b.h\"\n"}, "b.h", false},
		{"a chain of folders has an end", tree{"x/a.h": "#ifndef A\n#define A\n#include \"../x/a.h\"\n" + v1 + "#endif\n"}, nil, Request{Source: "#include \"x/a.h\"\n"}, "x/../x/a.h x/a.h", false},
		{"a file that includes itself", tree{"a.h": "#ifndef A\n#define A\n#include \"a.h\"\n" + v1 + "#endif\n"}, nil, Request{Source: "#include \"a.h\"\n"}, "a.h", false},
		{"file of the program's name", tree{"k.cu": v1}, nil, Request{Source: "#if __has_include(\"k.cu\")\n#define V 1\n#endif\n"}, "k.cu", false},
		{"digraph, splices and comments", tree{"a.h": v1}, nil, Request{Source: "/* */ %: inc\\\nlude /* x\n */ \"a\\\n.h\" // y\n"}, "a.h", false},
		{"a directive behind a comment over lines behind code", tree{"a.h": v1}, nil, Request{Source: "__device__ int a; /*\n*/ #include \"a.h\"\n"}, "a.h", false},
		{"trigraphs in c++14", tree{"a.h": v1}, nil, Request{Source: "??=incl??/\nude \"a.h\"\n", Standard: "c++14"}, "a.h", false},
		{"no raw strings in c++03", tree{"a.h": v1}, nil, Request{Source: "#define R\n__constant__ char s[] = R\"(\";\n#include \"a.h\"\n//)\"\n", Standard: "c++03"}, "a.h", false},
		{"apostrophes and odd quotes", tree{"a.h": v1}, nil, Request{Source: "#if 0\nit's \"odd\n#endif\n#pragma don't\n#include \"a.h\"\n"}, "a.h", false},
		{"pragma once of a link", tree{"inc/a.h": "#pragma once\n#ifdef V\n#error twice\n#endif\n" + v1}, tree{"inc/b.h": "a.h"}, Request{Source: "#include <a.h>\n#include <b.h>\n", Dirs: inc}, "inc/a.h inc/b.h", false},
		{"no search path", tree{"a.h": v1}, nil, Request{Source: "#include <a.h>\n"}, "", true},
		{"empty search path is the working folder", tree{"a.h": v1}, nil, Request{Source: "#include <a.h>\n", Dirs: []string{""}}, "a.h", false},
		{"slashes behind a folder", tree{"inc/a.h": v1}, nil, Request{Source: "#include <a.h>\n", Dirs: []string{"inc//"}}, "inc/a.h", false},
	}
}

func TestRulesOfTheSearch(t *testing.T) {
	for _, r := range rules() {
		t.Run(r.name, func(t *testing.T) {
			r.make(t)
			c := find(t, &r.req)
			if got := strings.Join(paths(c), " "); got != r.want {
				t.Errorf("files %q, want %q", got, r.want)
			}
			for _, f := range c.List.Absent {
				if info, err := os.Stat(f); err == nil && !info.IsDir() {
					t.Errorf("%s is there", f)
				}
			}
		})
	}
}

// paths returns the paths of the closure's files, sorted.
func paths(c *Closure) []string {
	all := map[string]bool{}
	for _, f := range c.List.Files {
		all[f.Path] = true
	}
	return slices.Sorted(maps.Keys(all))
}

// The rules are NVRTC's own: every file that it opens is in the closure, and
// every name that it looks for in vain.
func TestRulesAreThoseOfNVRTC(t *testing.T) {
	forEach(t, func(t *testing.T, v nvrtc) {
		for _, r := range rules() {
			t.Run(r.name, func(t *testing.T) {
				r.make(t)
				truth := v.compile(t, &r.req)
				if truth.ok == r.fails {
					t.Errorf("compiles: %t\n%s", truth.ok, truth.log)
				}
				holds(t, find(t, &r.req), truth)
			})
		}
	})
}
