package include

import (
	"testing"

	nvrtcOptions "jitcache/cuda/nvrtc"
)

// The spellings are NVRTC's own: with each of them it finds the header where the
// closure finds it.
func TestSpellingsAreThoseOfNVRTC(t *testing.T) {
	forEach(t, func(t *testing.T, v nvrtc) {
		for _, options := range [][]string{
			{"-Iinc"},
			{"-I", "inc"},
			{"-I=inc"},
			{"-I inc"},
			{"-I  inc "},
			{"-I", " inc"},
			{"--include-path=inc"},
			{"--include-path", "inc"},
			{"-I=", "-I= inc"},
			{"-I", "=inc"},
			{"-I==inc"},
			{"-I"},
			{"-I", ""},
			{"-DA=<b.h>", "-Iinc"},
			{"-D", "A=\"b.h\"", "-Iinc"},
			{"-D A=<b.h>", "-Iinc"},
			{"-D=A=<b.h>", "-Iinc"},
			{"--define-macro", "A=<b.h>", "-Iinc"},
			{"-include", "inc/a.h"},
			{"-include=a.h", "-Iinc"},
			{"--pre-include", " a.h", "-Iinc"},
			{"--pre-include=inc/a.h"},
			{" --std=c++14 ", "-Iinc"},
			{"-std=c++20", "-no-source-include", "-Iinc"},
			{"--no-source-include", "-Iinc"},
		} {
			r := rule{files: tree{"inc/a.h": v1, " inc/a.h": v1, "=inc/a.h": v1, "a.h": v1, "inc/b.h": "", "b.h": ""}}
			r.req.Source = "#include \"a.h\"\n#include <a.h>\n#ifdef A\n#include A\n#endif\n??=include \"b.h\"\n"
			r.make(t)
			truth := v.compile(t, &Request{Source: r.req.Source, Name: "k.cu"}, options...)
			if len(truth.opened) == 0 {
				t.Errorf("%q: NVRTC opened nothing: %s", options, truth.log)
			}
			read, err := nvrtcOptions.Parse(options)
			if err != nil {
				t.Fatal(err)
			}
			r.req.Dirs, r.req.PreIncludes, r.req.Macros = read.Dirs, read.PreIncludes, read.Macros
			r.req.Standard, r.req.NoSourceInclude = read.Standard, read.NoSourceInclude
			c := find(t, &r.req)
			holds(t, c, truth)
			if t.Failed() {
				t.Fatalf("with %q", options)
			}
		}
	})
}
