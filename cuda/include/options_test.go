package include

import (
	"reflect"
	"slices"
	"testing"
)

func TestOptionsAreTakenAsNVRTCTakesThem(t *testing.T) {
	for _, c := range []struct {
		options []string
		want    Request
		others  []string
	}{
		{[]string{"-Ia", "-I", "b", "-I=c", "-I d", "--include-path=e", "--include-path", "f", "-I", " g ", "-I= h"}, Request{Dirs: []string{"a", "b", "c", "d", "e", "f", "g", " h"}}, nil},
		{[]string{"-I", "", "-I="}, Request{Dirs: []string{"", ""}}, nil},
		{[]string{"-I"}, Request{Dirs: []string{""}}, nil},
		{[]string{"-I", "=a", "-I==b"}, Request{Dirs: []string{"=a", "=b"}}, nil},
		{[]string{"-DA", "-D", "B=1", "-D=C", "-D D=2", "--define-macro=E(x)=x", "--define-macro", "F"}, Request{Macros: []string{"A", "B=1", "C", "D=2", "E(x)=x", "F"}}, nil},
		{[]string{"-UA", "-U", "B", "--undefine-macro=C", "--undefine-macro", "D"}, Request{}, nil},
		{[]string{"-include", "a", "-include=b", "--pre-include=c", "--pre-include", "d"}, Request{PreIncludes: []string{"a", "b", "c", "d"}}, nil},
		{[]string{"-std=c++11", " --std=c++14 "}, Request{Standard: "c++14"}, nil},
		{[]string{"-no-source-include"}, Request{NoSourceInclude: true}, nil},
		{[]string{"--use-bundled-headers=p"}, Request{Dirs: []string{"p", "p/cccl"}}, nil},
		{[]string{"-arch=sm_80", "-dlto", "-default-device", "-includea.h", "--include-path x", " -G "}, Request{}, []string{"-arch=sm_80", "-dlto", "-default-device", "-includea.h", "--include-path x", " -G "}},
	} {
		var r Request
		if others := r.Take(c.options); !reflect.DeepEqual(r, c.want) || !slices.Equal(others, c.others) {
			t.Errorf("%q: %+v and %q", c.options, r, others)
		}
	}
}

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
			if others := r.req.Take(options); len(others) > 0 {
				t.Errorf("%q: others %q", options, others)
			}
			c := find(t, &r.req)
			holds(t, c, truth)
			if t.Failed() {
				t.Fatalf("with %q", options)
			}
		}
	})
}
