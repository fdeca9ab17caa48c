// Known programs make the same whatever the times of their inputs.

package record

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// generator is a command that a known program does.
type generator struct {
	words  []string
	source string // is its input
	text   string
	// others are programs in its tree that are not known: every variable counts.
	others bool
	// adds is a file to which it adds if that stands: what stood there counts.
	adds string
}

func (g *generator) write(w *world) { w.put(g.source, g.text) }

// generators are the commands by which it was found out that these programs are known, and by
// which each test run finds it out again. For a new program add a row here (docs/programs.md).
var generators = []generator{
	{words: []string{"flex", "-o", "l.c", "a.l"}, source: "a.l", text: "%%\n[a-z]+ { return 1; }\n%%\n"},
	{words: []string{"bison", "-d", "-o", "y.c", "a.y"}, source: "a.y", text: "%token A\n%%\ns: A;\n%%\n"},
	{words: []string{"m4", "-P", "a.m4"}, source: "a.m4", text: "m4_define(X, 1)X\n"},
	{words: []string{"swig", "-python", "-o", "w.c", "a.i"}, source: "a.i", text: "%module a\nint f(int);\n"},
	{words: []string{"protoc", "--cpp_out=.", "a.proto"}, source: "a.proto", text: "syntax = \"proto3\";\nmessage M { int32 a = 1; }\n"},
	{words: []string{"tcc", "-c", "t.c", "-o", "t.o"}, source: "t.c", text: "int f(void) { return 1; }\n"},
	{words: []string{"tcc", "t.c", "-o", "t"}, source: "t.c", text: "int main(void) { return 1; }\n"},
	{words: []string{"sdcc", "-mmcs51", "-c", "s.c", "-o", "s.rel"}, source: "s.c", text: "int f(void) { return 1; }\n", others: true},
	{words: []string{"glslangValidator", "-V", "a.vert", "-o", "a.spv"}, source: "a.vert", text: "#version 450\nvoid main() {}\n"},
	{words: []string{"x86_64-w64-mingw32-gcc-posix", "-g", "-O2", "-c", "x.c", "-o", "x.o"}, source: "x.c", text: "int f(void) { return 1; }\n"},
	{words: []string{"ar", "rcs", "lib.a", "a.o"}, source: "a.o", text: "x\n", adds: "lib.a"},
	{words: []string{"nvcc", "-arch=sm_90", "-cubin", "a.cu", "-o", "a.cubin"}, source: "a.cu", text: "__global__ void k(float *x) { *x = 1; }\n", others: true},
	{words: []string{"nvcc", "-arch=sm_90", "-fatbin", "a.cu", "-o", "a.fatbin"}, source: "a.cu", text: "__global__ void k(float *x) { *x = 1; }\n", others: true},
	{words: []string{"nvcc", "-arch=sm_90", "-ptx", "a.cu", "-o", "a.ptx"}, source: "a.cu", text: "__global__ void k(float *x) { *x = 1; }\n", others: true},
	{words: []string{"nvcc", "-arch=sm_90", "-cubin", "h.cu", "-o", "h.cubin"}, source: "h.cu", text: "int f(void) { return 1; }\n", others: true},
}

// earlier is preloaded, and moves the real-time clock.
const earlier = `#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/time.h>
#include <time.h>

static const long by = 400000000;

time_t time(time_t *at)
{
	time_t now = ((time_t (*)(time_t *))dlsym(RTLD_NEXT, "time"))(0) - by;
	if (at)
		*at = now;
	return now;
}

int gettimeofday(struct timeval *at, void *zone)
{
	int r = ((int (*)(struct timeval *, void *))dlsym(RTLD_NEXT, "gettimeofday"))(at, zone);
	at->tv_sec -= by;
	return r;
}

int clock_gettime(clockid_t clock, struct timespec *at)
{
	int r = ((int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime"))(clock, at);
	if (clock == CLOCK_REALTIME)
		at->tv_sec -= by;
	return r;
}
`

// each runs a test for each of the generators that are there.
func each(t *testing.T, test func(t *testing.T, g *generator)) {
	for _, g := range generators {
		t.Run(strings.Join(g.words, " "), func(t *testing.T) {
			if _, err := exec.LookPath(g.words[0]); err != nil {
				t.Skip(err)
			}
			test(t, &g)
		})
	}
}

// What each makes is the same with other modification times of what it reads, another folder for
// temporary files, and another time of day.
func TestWhatKnownProgramsMakeDoesNotDependOnTimes(t *testing.T) {
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("no gcc")
	}
	library := filepath.Join(t.TempDir(), "earlier.so")
	build := exec.Command(gcc, "-shared", "-fPIC", "-w", "-x", "c", "-", "-o", library, "-ldl")
	build.Stdin = strings.NewReader(earlier)
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	each(t, func(t *testing.T, g *generator) {
		w := newWorld(t)
		g.write(w)
		made := func(more ...string) map[string]string {
			t.Helper()
			c := exec.Command(g.words[0], g.words[1:]...)
			c.Dir, c.Env = w.dir, append(w.env, more...)
			said, err := c.Output()
			if err != nil {
				t.Fatalf("%v: %s", err, said)
			}
			found := map[string]string{"": string(said)}
			entries, _ := os.ReadDir(w.dir)
			for _, e := range entries {
				content, _ := os.ReadFile(filepath.Join(w.dir, e.Name()))
				if found[e.Name()] = string(content); e.Name() != g.source {
					os.Remove(filepath.Join(w.dir, e.Name()))
				}
			}
			return found
		}
		first := made()
		then := time.Unix(1_000_000_000, 0)
		if err := os.Chtimes(filepath.Join(w.dir, g.source), then, then); err != nil {
			t.Fatal(err)
		}
		second := made("LD_PRELOAD="+library, "TMPDIR="+t.TempDir())
		if len(first) < 2 || len(second) != len(first) {
			t.Fatalf("%d and %d files", len(first), len(second))
		}
		for name, content := range first {
			if !bytes.Equal([]byte(second[name]), []byte(content)) {
				t.Errorf("%q is another", name)
			}
		}
	})
}

// A fresh checkout has other times, and a folder for temporary files other names.
func TestTimesDoNotCountForKnownPrograms(t *testing.T) {
	each(t, func(t *testing.T, g *generator) {
		w := newWorld(t)
		tmp := t.TempDir()
		w.env = append(w.env, "TMPDIR="+tmp)
		g.write(w)
		l, err := w.run(g.words...)
		if err != nil {
			t.Fatal(err)
		}
		if is := l.World.Rule != KnownVariables; is != g.others {
			t.Errorf("every variable counts: %v", is)
		}
		then := time.Unix(1_000_000_000, 0)
		if err := os.Chtimes(filepath.Join(w.dir, g.source), then, then); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(tmp+"/of somebody else", nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if g.adds != "" {
			os.Remove(filepath.Join(w.dir, g.adds))
		}
		if state, why := l.Check(w.surroundings()); state == Changed {
			t.Error(why)
		}
		w.put(g.source, g.text+"\n")
		if state, _ := l.Check(w.surroundings()); state != Changed {
			t.Error("another content is not seen")
		}
	})
}

// The table is by names and texts: a wrapper that is called like a known program is none.
func TestWrapperOfAGeneratorIsNotKnown(t *testing.T) {
	w := newWorld(t)
	if path := w.put("flex", "#!/bin/sh\nexec /usr/bin/flex \"$@\"\n"); IsKnown(path, nil) {
		t.Error("a script is known by its name")
	}
	for path, want := range map[string]string{
		"/usr/bin/x86_64-w64-mingw32-gcc-posix": "gcc", "/usr/bin/x86_64-w64-mingw32-g++-win32": "g++",
		"/usr/bin/i686-w64-mingw32-gcc-12-posix": "gcc", "/usr/bin/x86_64-w64-mingw32-gcc-12.2.0": "gcc", "/usr/bin/my-posix": "my",
	} {
		if is := plainName(path); is != want {
			t.Errorf("%s: %s, want %s", path, is, want)
		}
	}
}

// gcc -flto=auto runs make, which lists the folder for temporary files.
func TestLinkByMakeDependsOnNoTemporaryFilesOfOthers(t *testing.T) {
	w := newWorld(t)
	tmp := t.TempDir()
	w.env = append(w.env, "TMPDIR="+tmp)
	w.put("m.c", "int g(void); int main(void) { return g(); }\n")
	w.put("g.c", "int g(void) { return 0; }\n")
	l, err := w.run("gcc", "-O2", "-flto=auto", "m.c", "g.c", "-o", "p")
	if err != nil {
		t.Fatal(err)
	}
	if l.World.Rule != KnownVariables {
		t.Error("every variable counts")
	}
	for _, name := range []string{"ccabc.o", "of somebody else"} {
		if err := os.WriteFile(tmp+"/"+name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if state, why := l.Check(w.surroundings()); state == Changed {
		t.Error(why)
	}
}

//jitcache:control nomakes
func TestMakeOfAUserMayObeyAnything(t *testing.T) {
	w := newWorld(t)
	w.needs("gcc")
	w.put("a.c", "int f(void) { return 0; }\n")
	w.put("m.mk", "all:\n\tgcc -c a.c -o a.o\n")
	l, err := w.run("make", "-f", "m.mk", "-j2", "all")
	if err != nil {
		t.Fatal(err)
	}
	if l.World.Rule == KnownVariables {
		t.Error("its variables do not count")
	}
}

//jitcache:control norunning
func TestCompilerThatRunsWhatItMakesMayObeyAnything(t *testing.T) {
	w := newWorld(t)
	w.put("r.c", "#include <stdio.h>\n#include <stdlib.h>\nint main(void) { puts(getenv(\"Mode\") ? \"set\" : \"not\"); return 0; }\n")
	l, err := w.run("tcc", "-run", "r.c")
	if err != nil {
		t.Fatal(err)
	}
	w.env = append(w.env, "Mode=1")
	if state, _ := l.Check(w.surroundings()); state != Changed {
		t.Error("a variable that it obeys does not count")
	}
}
