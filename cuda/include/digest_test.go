package include

import (
	"bytes"
	"os"
	"testing"
)

// twice finds the closure of a program before and after a change to its tree.
func twice(t *testing.T, r rule, change func()) (before, after *Closure) {
	t.Helper()
	r.make(t)
	before = find(t, &r.req)
	change()
	return before, find(t, &r.req)
}

func TestDigestTellsWhatTheResultMayDependOn(t *testing.T) {
	rename := func(from, to string) func() { return func() { os.Rename(from, to) } }
	put := func(path, text string) func() { return func() { os.WriteFile(path, []byte(text), 0o644) } }
	inc2 := []string{"inc", "inc2"}
	both := Request{Source: "#include <a.h>\n", Dirs: inc2}
	once := "#pragma once\n#ifdef V\n#undef V\n#define V 2\n#else\n#define V 1\n#endif\n"
	for _, c := range []struct {
		rule
		change func()
		same   bool
	}{
		{rule{"content", tree{"inc/a.h": v1}, nil, both, "", false}, put("inc/a.h", v2), false},
		{rule{"touched", tree{"inc/a.h": v1}, nil, both, "", false}, put("inc/a.h", v1), true},
		{rule{"in front on the search path", tree{"inc2/a.h": v1, "inc/f": ""}, nil, both, "", false}, put("inc/a.h", v2), false},
		{rule{"moved along the search path", tree{"inc2/a.h": v1, "inc/f": ""}, nil, both, "", false}, rename("inc2/a.h", "inc/a.h"), true},
		{
			rule{"two names change places", tree{"a.h": v1, "b.h": v2}, nil, Request{Source: "#include \"a.h\"\n#undef V\n#include \"b.h\"\n"}, "", false},
			func() { os.Rename("a.h", "c"); os.Rename("b.h", "a.h"); os.Rename("c", "b.h") }, false,
		},
		{rule{"answer of has_include", tree{"f": ""}, nil, Request{Source: "#if __has_include(\"a.h\")\n#endif\n"}, "", false}, put("a.h", ""), false},
		{rule{"content behind has_include", tree{"a.h": v1}, nil, Request{Source: "#if __has_include(\"a.h\")\n#endif\n"}, "", false}, put("a.h", v2), true},
		{rule{"absent name appears", tree{"f": ""}, nil, Request{Source: "#if 0\n#include \"a.h\"\n#endif\n"}, "", false}, put("a.h", ""), false},
		{
			rule{"a copy becomes a link", tree{"a.h": once, "b.h": once}, nil, Request{Source: "#include \"a.h\"\n#include \"b.h\"\n"}, "", false},
			func() { os.Remove("b.h"); os.Symlink("a.h", "b.h") }, false,
		},
		{
			rule{"a header in memory becomes a file too", tree{"f": "", "b.h": once}, nil, Request{Source: "#include \"a.h\"\n#include \"b.h\"\n", Headers: []Header{{"a.h", once}}}, "", false},
			func() { os.Link("b.h", "a.h") }, false,
		},
		{rule{"which of two names is there", tree{"a.h": ""}, nil, Request{Source: "#ifdef X\n#define A \"a.h\"\n#else\n#define A \"b.h\"\n#endif\n#if __has_include(A)\n#endif\n"}, "", false}, rename("a.h", "b.h"), false},
		{
			rule{"place where next begins", tree{"inc/a.h": "#include_next <b.h>\n", "inc/b.h": v1, "inc2/b.h": v2}, nil, both, "", false},
			func() { os.Rename("inc/b.h", "t"); os.Rename("inc/a.h", "inc2/a.h"); os.Rename("t", "inc/b.h") }, false,
		},
		{rule{"file that nobody asks for", tree{"inc/a.h": v1}, nil, both, "", false}, put("inc/b.h", v2), true},
		{rule{"name that NVRTC may mean", tree{"inc/800.h": v1}, nil, Request{Source: "#define S(x) T(x)\n#define T(x) #x\n#include S(__CUDA_ARCH__.h)\n", Dirs: inc2[:1]}, "", false}, rename("inc/800.h", "inc/900.h"), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			before, after := twice(t, c.rule, c.change)
			if same := before.Digest == after.Digest; same != c.same {
				t.Errorf("same digest: %t, want %t", same, c.same)
			}
		})
	}
}

func TestHeadersInMemoryCountByTheirText(t *testing.T) {
	digest := func(headers ...Header) any {
		return find(t, &Request{Source: "#include <a.h>\n", Headers: headers}).Digest
	}
	if digest(Header{"a.h", v1}) == digest(Header{"a.h", v2}) {
		t.Error("another text has the same digest")
	}
	if digest(Header{"a.h", v1}) != digest(Header{"b.h", v2}, Header{"a.h", v1}) {
		t.Error("a header that is not reached counts")
	}
	if digest(Header{"a.h", v1}) == digest() {
		t.Error("no header has the same digest")
	}
}

func TestSameTreeElsewhereHasTheSameDigestAndOtherPaths(t *testing.T) {
	var closures []*Closure
	for range 2 {
		dir := t.TempDir()
		write(t, dir+"/inc/a.h", "#include \"sub/b.h\"\n")
		write(t, dir+"/inc/sub/b.h", v1)
		closures = append(closures, find(t, &Request{Source: "#include <a.h>\n", Dirs: []string{dir + "/inc"}}))
	}
	if closures[0].Digest != closures[1].Digest {
		t.Error("the digest depends on the folder")
	}
	if closures[0].Paths == closures[1].Paths {
		t.Error("the paths do not")
	}
}

func TestClosureComesBackFromItsList(t *testing.T) {
	write(t, t.TempDir()+"/x", "")
	for _, source := range []string{"", "f(__FILE__)", "g(__DATE__)", "h(__TIME__ __BASE_FILE__)"} {
		c := find(t, &Request{Source: source})
		again, err := FromList(c.List)
		if err != nil || *again != *c {
			t.Errorf("%q: %v, %+v, want %+v", source, err, again, c)
		}
	}
	c := find(t, &Request{})
	for n := range c.List.Payload {
		short := *c.List
		short.Payload = c.List.Payload[:n]
		if _, err := FromList(&short); err == nil {
			t.Errorf("a payload of %d bytes is taken", n)
		}
	}
}

func TestWordsThatShowAPathOrTheTime(t *testing.T) {
	for source, want := range map[string][2]bool{
		"":                                  {false, false},
		"static_assert(1); my_assert(2);":   {false, false},
		"assert(x);":                        {true, false},
		"static_assert(1); { assert (x); }": {true, false},
		"f(__FILE__)":                       {true, false},
		"f(__builtin_FILE())":               {true, false},
		"f(__builtin_FILE_NAME())":          {true, false},
		"f(__BASE_FILE__)":                  {true, false},
		"std::source_location l;":           {true, false},
		"f(__builtin_source_location())":    {true, false},
		"f(__DATE__)":                       {false, true},
		"f(__TIME__)":                       {false, true},
		"f(__TIMESTAMP__)":                  {false, true},
		"f(__LINE__)":                       {false, false},
	} {
		c := find(t, &Request{Source: source})
		if got := [2]bool{c.ShowsPaths, c.ShowsTime}; got != want {
			t.Errorf("%q: %v, want %v", source, got, want)
		}
	}
}

// What ShowsPaths says is so: without such a word the result of one tree is the
// same wherever it stands; with one it is not.
func TestIdenticalTreesGiveIdenticalCubins(t *testing.T) {
	forEach(t, func(t *testing.T, v nvrtc) {
		for name, c := range map[string]struct {
			header string
			option string
			same   bool
		}{
			"plain":        {"__device__ inline int f() { return 7; }\n", "", true},
			"static":       {"static __device__ int s; __device__ inline int f() { return s++; }\n", "", true},
			"file":         {"__device__ inline int f() { return __FILE__[threadIdx.x]; }\n", "", false},
			"builtin file": {"__device__ inline const char *g() { return __builtin_FILE(); }\n__device__ inline int f() { return g()[threadIdx.x]; }\n", "", false},
			"assert":       {"__device__ inline int f() { assert(threadIdx.x); return 1; }\n", "", false},
			"lineinfo":     {"__device__ inline int f() { return 7; }\n", "-lineinfo", false},
		} {
			t.Run(name, func(t *testing.T) {
				var cubins [][]byte
				var closures []*Closure
				for _, folder := range []string{"one", "another"} {
					dir := t.TempDir() + "/" + folder
					write(t, dir+"/inc/a.h", c.header)
					t.Chdir(dir)
					req := &Request{Source: "#include <a.h>\n__global__ void k(int *p) { *p = f(); }\n", Name: "k.cu", Dirs: []string{dir + "/inc"}}
					var more []string
					if c.option != "" {
						more = []string{c.option}
					}
					truth := v.compile(t, req, more...)
					if !truth.ok {
						t.Fatal(truth.log)
					}
					cubins = append(cubins, truth.cubin)
					closures = append(closures, find(t, req))
				}
				if closures[0].Digest != closures[1].Digest || closures[0].Paths == closures[1].Paths {
					t.Error("digests of the trees")
				}
				same := bytes.Equal(cubins[0], cubins[1])
				if !same && !closures[0].ShowsPaths && c.option == "" {
					t.Error("another result, and no word that shows paths")
				}
				if same != c.same {
					t.Errorf("same result: %t, want %t", same, c.same)
				}
			})
		}
	})
}
