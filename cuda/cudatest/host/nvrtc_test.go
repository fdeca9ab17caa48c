// The fake NVRTC reads and makes what the real one does.

package host_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"jitcache/cuda/cudatest/host"
	"jitcache/cuda/dl"
)

func library(t testing.TB, locations dl.Locations) *dl.Library {
	t.Helper()
	file, err := dl.Find(dl.NVRTC, locations)
	if err != nil {
		t.Fatal(err)
	}
	l, err := file.Open()
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func stub(t testing.TB, flags ...string) *dl.Library {
	t.Helper()
	path := filepath.Join(t.TempDir(), "libnvrtc.so.13")
	if err := host.Build(path, flags...); err != nil {
		t.Fatal(err)
	}
	return library(t, dl.Locations{Explicit: path})
}

// real returns the installed NVRTCs, by version.
func real(t testing.TB) map[string]*dl.Library {
	t.Helper()
	found := map[string]*dl.Library{}
	for version, path := range map[string]string{
		"13": os.Getenv("JITCACHE_TEST_CUDA13") + "/nvidia/cu13/lib/libnvrtc.so.13",
		"12": os.Getenv("JITCACHE_TEST_CUDA12") + "/nvidia/cuda_nvrtc/lib/libnvrtc.so.12",
	} {
		if _, err := os.Stat(path); err == nil {
			found[version] = library(t, dl.Locations{Explicit: path})
		}
	}
	return found
}

// lines makes files that print their names when they are included.
func lines(t testing.TB, files map[string]string) {
	t.Helper()
	for name, text := range files {
		if text == "" {
			text = "#warning is " + name + "\n"
		}
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// said returns the texts of #warning and #error, and whether the source compiled.
func said(l *dl.Library, s host.Source) string {
	_, log, code := host.Compile(l, s)
	found := []string{"compiled"}
	if code != 0 {
		found[0] = "failed"
	}
	for _, m := range regexp.MustCompile(`directive: (.*)`).FindAllStringSubmatch(log, -1) {
		found = append(found, strings.TrimSpace(m[1]))
	}
	return strings.Join(found, ", ")
}

func TestFakeReadsAsNVRTCDoes(t *testing.T) {
	t.Chdir(t.TempDir())
	lines(t, map[string]string{
		"x.h": "", "cwd.h": "", "sub/x.h": "", "i1/x.h": "", "i2/x.h": "", "i1/w.h": "", "i2/w.h": "", "w.h": "", "i2/d/q.h": "",
		"i1/z.h": "#include \"w.h\"\n", "i2/d/up.h": "#include \"../x.h\"\n#include \"q.h\"\n", "i2/d/cwd.h": "#include \"cwd.h\"\n",
		"i2/d/away.h": "#include \"cwd2.h\"\n", "cwd2.h": "",
		"once.h": "#pragma once\n#warning is once\n", "guard.h": "#ifndef G\n#define G 2\n#warning is guard\n#endif\n",
	})
	mem := map[string]string{"x.h": "#warning is memory\n", "sub/y.h": "#include \"x.h\"\n"}
	other := map[string]string{"sub/y.h": "#include \"x.h\"\n", "sub/x.h": "#warning is memory\n"}
	folders := []string{"-Ii1", "--include-path=i2"}
	fake := stub(t)
	reals := real(t)
	for _, c := range []struct {
		text, name string
		headers    map[string]string
		options    []string
		want       string
	}{
		{"#include \"x.h\"\n", "k.cu", nil, folders, "compiled, is x.h"},
		{"#include \"x.h\"\n", "k.cu", mem, folders, "compiled, is memory"},
		{"#include <x.h>\n", "k.cu", nil, folders, "compiled, is i1/x.h"},
		{"#include <x.h>\n", "k.cu", mem, folders, "compiled, is memory"},
		{"#include <x.h>\n", "k.cu", nil, []string{"-I", "i2", "-Ii1"}, "compiled, is i2/x.h"},
		{"#include <cwd.h>\n", "k.cu", nil, folders, "failed"},
		{"#include \"cwd.h\"\n", "k.cu", nil, nil, "compiled, is cwd.h"},
		{"#include \"x.h\"\n", "sub/k.cu", nil, folders, "compiled, is sub/x.h"},
		{"#include \"cwd.h\"\n", "sub/k.cu", nil, folders, "failed"},
		{"#include \"x.h\"\n", "", nil, folders, "compiled, is x.h"},
		{"#include \"sub/y.h\"\n", "k.cu", mem, folders, "compiled, is memory"},
		{"#include \"sub/y.h\"\n", "k.cu", other, folders, "compiled, is sub/x.h"},
		{"#include \"z.h\"\n", "k.cu", nil, folders, "compiled, is i1/w.h"},
		{"#include \"d/up.h\"\n", "k.cu", nil, folders, "compiled, is i2/x.h, is i2/d/q.h"},
		{"#include \"d/away.h\"\n", "k.cu", nil, folders, "failed"},
		{"#include \"once.h\"\n#include \"once.h\"\n", "k.cu", nil, nil, "compiled, is once"},
		{"#include \"guard.h\"\n#include \"guard.h\"\n#if G == 2\n#warning two\n#endif\n", "k.cu", nil, nil, "compiled, is guard, two"},
		{"#if __has_include(\"cwd.h\") && !__has_include(<cwd.h>)\n#warning yes\n#endif\n", "k.cu", nil, nil, "compiled, yes"},
		{"#define H <x.h>\n#include H\n", "k.cu", nil, folders, "compiled, is i1/x.h"},
		{"/* #include \"gone.h\" */ // #error\n#if 0\n#error no\n#elif X > 1\n#warning D\n#else\n#error no\n#endif\n", "k.cu", nil, []string{"-DX=2"}, "compiled, D"},
		{"#ifdef X\n#error no\n#endif\n#ifndef Y\n#error no\n#endif\n#if defined(Y) || X\n#warning Y\n#endif\n", "k.cu", nil, []string{"--define-macro=Y"}, "compiled, Y"},
		{"#define S \"/*\"\n#warning text\n", "k.cu", nil, nil, "compiled, text"},
		{"#warning pre\n", "k.cu", nil, []string{"--pre-include=cwd.h"}, "compiled, is cwd.h, pre"},
		{"#error bad\n", "k.cu", nil, nil, "failed, bad"},
	} {
		s := host.Source{Text: c.text, Name: c.name, Headers: c.headers, Options: append([]string{"-arch=sm_80"}, c.options...)}
		if got := said(fake, s); got != c.want {
			t.Errorf("%q in %q: %s, want %s", c.text, c.name, got, c.want)
		}
		for version, l := range reals {
			if got := said(l, s); got != c.want {
				t.Errorf("NVRTC %s: %q in %q: %s, want %s", version, c.text, c.name, got, c.want)
			}
		}
	}
}

func TestFakeMakesTheSameOfTheSame(t *testing.T) {
	t.Chdir(t.TempDir())
	a, b := stub(t), stub(t, "-DSTUBNVRTC_MAJOR=12", "-DSTUBNVRTC_MINOR=9")
	source := host.Source{Text: "#include \"x.h\"\nextern \"C\" __global__ void k() {}\n", Name: "k.cu", Options: []string{"-arch=sm_80"}}
	make := func(l *dl.Library, header string, options ...string) string {
		lines(t, map[string]string{"x.h": header})
		s := source
		s.Options = append(s.Options, options...)
		image, log, code := host.Compile(l, s)
		if code != 0 {
			t.Fatal(log)
		}
		return string(image)
	}
	first := make(a, "int x;\n")
	if make(a, "int x; // a comment\n#if 0\nint y;\n#endif\n", "-Ielsewhere") != first {
		t.Error("a comment, a branch that is not taken or a folder made a difference")
	}
	for name, other := range map[string]string{
		"header": make(a, "int y;\n"), "option": make(a, "int x;\n", "-DX"), "version": make(b, "int x;\n"),
		"macro": make(a, "#define X 1\nint x;\n"),
	} {
		if other == first {
			t.Errorf("another %s made no difference", name)
		}
	}
}

func TestFakeIsCountedAndFails(t *testing.T) {
	l := stub(t)
	s := host.Source{Text: "__global__ void k() {}\n", Name: "k.cu", Options: []string{"-arch=sm_80"}}
	t.Setenv("STUBNVRTC_FAIL", "nvrtcCompileProgram=7:1")
	for _, want := range []int{7, 0, 0} {
		if _, _, code := host.Compile(l, s); code != want {
			t.Errorf("%d, want %d", code, want)
		}
	}
	for _, name := range []string{"nvrtcCreateProgram", "nvrtcCompileProgram", "nvrtcDestroyProgram"} {
		if n := host.Compiles(filepath.Dir(l.Path), name); n != 3 {
			t.Errorf("%s: %d lines, want 3", name, n)
		}
	}
	s.Options = append(s.Options, "--no-such-option")
	if _, _, code := host.Compile(l, s); code != 5 {
		t.Errorf("a bad option: %d, want 5", code)
	}
}
