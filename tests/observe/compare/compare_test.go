// Package compare holds the observer against strace: the names that a tree's calls have,
// by the one and by the other.
package compare

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"jitcache/observe"
	"jitcache/observe/observetest"
)

// needed is set where everything that is compared with has to be there: Debian's packages
// (tests/deps-ci.sh) and PyPI's. Without it nothing is compared.
const needed = "JITCACHE_TEST_OBSERVE_COMPARE"

func TestMain(m *testing.M) {
	if os.Getenv(needed) == "" {
		os.Exit(0)
	}
	os.Exit(observetest.Main(m, nil))
}

const (
	plainC  = "#include <math.h>\n#include <stdio.h>\nint main(void) { return (int)sqrt(0.0) + printf(\"\"); }\n"
	manySTL = "#include <vector>\n#include <string>\n#include <map>\n#include <algorithm>\n#include <iostream>\n" +
		"int main() { std::map<std::string, std::vector<int>> m; std::cout << m.size(); }\n"
	fortran = "program p\n  use iso_fortran_env\n  print *, real64\nend program p\n"
	pyx     = "from libc.math cimport sqrt\n\ndef f(double x):\n    return sqrt(x)\n"
	mpi     = "#include <mpi.h>\nint main(int n, char **a) { MPI_Init(&n, &a); return MPI_Finalize(); }\n"
	asm     = "\t.globl f\nf:\n\tret\n"
	cmake   = "cmake_minimum_required(VERSION 3.18)\nproject(p C CXX)\nadd_library(a STATIC a.c)\nadd_executable(x x.cpp)\ntarget_link_libraries(x a)\n"
)

// subject is a command, and the files that it finds.
type subject struct {
	name  string
	words string // of the shell's language, without its meaning: separated by spaces
	files map[string]string
	needs string // a program
}

// nvrtc is a program that compiles k.cu, with a header from a folder, by the library that
// it is told.
const nvrtc = `import ctypes, sys
n = ctypes.CDLL(sys.argv[1])
p = ctypes.c_void_p()
assert n.nvrtcCreateProgram(ctypes.byref(p), open("k.cu", "rb").read(), b"k.cu", 0, None, None) == 0
options = [b"-Inone", b"-Iinc", b"--gpu-architecture=sm_90", *(o.encode() for o in sys.argv[2:])]
assert n.nvrtcCompileProgram(p, len(options), (ctypes.c_char_p * len(options))(*options)) == 0
`

// libraries are NVIDIA's, by the variable that names the folder of the wheels.
var libraries = []struct{ name, variable, path string }{
	{"NVRTC 12.9", "JITCACHE_TEST_CUDA12", "nvidia/cuda_nvrtc/lib/libnvrtc.so.12"},
	{"NVRTC 13", "JITCACHE_TEST_CUDA13", "nvidia/cu13/lib/libnvrtc.so.13"},
}

func subjects(t *testing.T) []subject {
	python := os.Getenv(needed)
	c := map[string]string{"a.c": plainC}
	var all []subject
	for _, l := range libraries {
		site := os.Getenv(l.variable)
		if site == "" {
			t.Fatalf("%s names no folder", l.variable)
		}
		kernel := "#include <outer.h>\n#if __has_include(\"optional.h\")\n#endif\n__global__ void k(int *p) { *p = N; }\n"
		files := map[string]string{"nvrtc.py": nvrtc, "k.cu": kernel, "inc/outer.h": "#include \"sub/inner.h\"\n", "inc/sub/inner.h": "#define N 1\n"}
		words := python + " nvrtc.py " + filepath.Join(site, l.path)
		all = append(all, subject{l.name, words, files, python}, subject{l.name + " without a cache", words + " --no-cache", files, python})
	}
	return append(all, []subject{
		{"gcc -c", "gcc -c a.c -o a.o", c, "gcc"},
		{"gcc compile and link", "gcc -O2 -g a.c -o a -lm", c, "gcc"},
		{"gcc with folders", "gcc -Iinc -I./inc/../inc2 -I/none -c b.c", map[string]string{"b.c": "#include <x.h>\n#include \"y.h\"\n", "inc2/x.h": "", "inc/y.h": "#include \"../inc2/z.h\"\n", "inc2/z.h": ""}, "gcc"},
		{"g++ with STL", "g++ -c a.cpp", map[string]string{"a.cpp": manySTL}, "g++"},
		{"clang -c", "clang -c a.c", c, "clang"},
		{"clang and lld", "clang a.c -fuse-ld=lld -o a -lm", c, "ld.lld"},
		{"clang and mold", "clang a.c -fuse-ld=mold -o a -lm", c, "mold"},
		{"clang++ with STL", "clang++ a.cpp -o a", map[string]string{"a.cpp": manySTL}, "clang++"},
		{"gfortran", "gfortran p.f90 -o p", map[string]string{"p.f90": fortran}, "gfortran"},
		{"cython", python + " -m cython -3 m.pyx", map[string]string{"m.pyx": pyx}, python},
		{"mpicc of Open MPI", "mpicc.openmpi m.c -o m", map[string]string{"m.c": mpi}, "mpicc.openmpi"},
		{"mpicc of MPICH", "mpicc.mpich m.c -o m", map[string]string{"m.c": mpi}, "mpicc.mpich"},
		{"as", "as f.s -o f.o", map[string]string{"f.s": asm}, "as"},
		{"ld", "ld -shared crt.o -o f.so -L/usr/lib/x86_64-linux-gnu -lm", map[string]string{"crt.o": ""}, "ld"},
		{"ar", "ar rcs lib.a a.c other.c", map[string]string{"a.c": plainC, "other.c": ""}, "ar"},
		{"ar that replaces", "ar rcs lib.a a.c", map[string]string{"a.c": plainC, "lib.a": "!<arch>\n"}, "ar"},
		{"wrapper of the shell", "./wrap -c a.c", map[string]string{"a.c": plainC, "wrap": "#!/bin/sh\ncd ${0%/*} && . ./lib.sh && exec gcc $FLAGS \"$@\"\n", "lib.sh": "for f in *.flags; do FLAGS=$(cat $f); done\n", "x.flags": "-O1"}, "gcc"},
		{"wrapper of Python", "./wrap.py -c a.c", map[string]string{"a.c": plainC, "wrap.py": "#!" + python + "\nimport os, subprocess, sys\nsys.exit(subprocess.call(['gcc', *open('flags').read().split(), *sys.argv[1:]]))\n", "flags": "-O1"}, "gcc"},
		{"ccache gcc", "ccache gcc -c a.c", c, "ccache"},
		{"cmake and ninja", "sh -c cmake${IFS}-G${IFS}Ninja${IFS}-B${IFS}build${IFS}.&&ninja${IFS}-j1${IFS}-C${IFS}build", map[string]string{"CMakeLists.txt": cmake, "a.c": plainC, "x.cpp": manySTL}, "ninja"},
		{"make", "make -j2", map[string]string{"Makefile": "all: a.o b.o\n\tar rcs l.a $^\n%.o: %.c\n\t$(CC) -c $<\n", "a.c": plainC, "b.c": "int b;\n"}, "make"},
		{"tcc", "tcc a.c -o a -lm", c, "tcc"},
		{"python", python + " -c import${IFS}json,ctypes,sysconfig,subprocess", nil, python},
	}...)
}

// place is where a subject is at home: emptied and made anew before each run, so that all
// paths are the same. What it invents names for is in a folder of its own.
type place struct{ dir, scratch string }

func (s *subject) prepare(t *testing.T, p place) []string {
	t.Helper()
	for _, dir := range []string{p.dir, p.scratch} {
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range s.files {
		path := filepath.Join(p.dir, name)
		os.MkdirAll(filepath.Dir(path), 0o755)
		mode := os.FileMode(0o644)
		if strings.HasPrefix(text, "#!") {
			mode = 0o755
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	if s.name == "ld" {
		run(t, p.dir, []string{"gcc", "-c", "-xc", "/dev/null", "-o", "crt.o"}, os.Environ())
	}
	own := []string{"TMPDIR=" + p.scratch, "CCACHE_DIR=" + p.scratch + "/ccache", "PYTHONDONTWRITEBYTECODE=1", "HOME=" + p.scratch}
	return append(slices.DeleteFunc(os.Environ(), func(e string) bool {
		name, _, _ := strings.Cut(e, "=")
		return slices.ContainsFunc(own, func(o string) bool { return strings.HasPrefix(o, name+"=") })
	}), own...)
}

func run(t *testing.T, dir string, words, env []string) {
	t.Helper()
	c := exec.Command(words[0], words[1:]...)
	c.Dir, c.Env = dir, env
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", words, err, out)
	}
}

func (s *subject) args() []string {
	words := strings.Fields(s.words)
	for i := range words {
		words[i] = strings.ReplaceAll(words[i], "${IFS}", " ")
	}
	return words
}

func (s *subject) observed(t *testing.T, p place, stops bool) *observe.Report {
	t.Helper()
	env := s.prepare(t, p)
	started, err := observe.Start(&observe.Command{Args: s.args(), Dir: p.dir, Env: env, Stdin: -1, Stops: stops})
	if err != nil {
		t.Fatal(err)
	}
	r, err := started.Report()
	if err != nil || r.Status != 0 || r.Unobserved || r.Outlived {
		t.Fatalf("%v %+v %s%s", err, r.Status, r.Out, r.Err)
	}
	return r
}

// settled brings a path into one form for both: strace says where relative paths lead, the
// observer how their folder was called.
func settled(path string) string {
	dir, name := filepath.Split(path)
	if name == "" || name == "." || name == ".." {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			return real
		}
	}
	if real, err := filepath.EvalSymlinks(filepath.Clean("/" + dir)); err == nil && !strings.Contains(dir, "..") {
		return filepath.Join(real, name)
	}
	if real, err := exec.Command("realpath", "-m", "--", dir).Output(); err == nil {
		return filepath.Join(strings.TrimSuffix(string(real), "\n"), name)
	}
	return filepath.Clean(path)
}

// left out are names that mean something else for each process, and what was invented.
func (p place) leftOut(path string) bool {
	for _, prefix := range []string{"/proc/self/", "/proc/thread-self/", "/dev/fd/", "/dev/std", p.scratch + "/"} {
		if strings.HasPrefix(path, prefix) {
			return true
		}
	}
	number := strings.Split(strings.TrimPrefix(path, "/proc/"), "/")[0]
	return strings.HasPrefix(path, "/proc/") && strings.Trim(number, "0123456789") == "" || path == "/proc/self" || path == "/dev/fd"
}

func below(path string, made map[string]bool) bool {
	for ; path != "/" && path != "."; path = filepath.Dir(path) {
		if made[path] {
			return true
		}
	}
	return false
}

func TestObserverSeesWhatStraceSees(t *testing.T) {
	for _, s := range subjects(t) {
		t.Run(s.name, func(t *testing.T) {
			if _, err := exec.LookPath(s.needs); err != nil {
				t.Fatal(err)
			}
			top, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			p := place{top + "/here", top + "/scratch"}
			by := straced(t, p.dir, s.args(), s.prepare(t, p))
			for _, stops := range []bool{false, true} {
				mode := map[bool]string{false: "notices", true: "stops"}[stops]
				s.same(t, p, mode, by, s.observed(t, p, stops))
			}
		})
	}
}

// same holds a report against strace's names, both ways.
func (s *subject) same(t *testing.T, p place, mode string, by *seen, r *observe.Report) {
	t.Helper()
	made, theirs, ours := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for path := range by.made {
		made[settled(path)] = true
	}
	for path := range by.names {
		if path != "" && !p.leftOut(path) {
			theirs[settled(path)] = true
		}
	}
	for _, f := range r.Files {
		ours[f.Path] = true
	}
	for i := range r.Names {
		ours[settled(r.Names[i].Path)] = true
	}
	for path := range theirs {
		if !ours[path] && !p.leftOut(path) && !below(path, made) {
			t.Errorf("%s: strace sees %s", mode, path)
		}
	}
	for i := range r.Names {
		n := &r.Names[i]
		path := settled(n.Path)
		// What the kernel reads to run a program is no call's; nor are links on the way to
		// what the tree is told the path of, and names there that are none; the tree's own
		// was looked for before.
		if n.Bits&(observe.Ran|observe.Text|observe.Made|observe.Plain) != 0 || p.leftOut(path) || theirs[path] || isSocket(n.Path) {
			continue
		}
		t.Errorf("%s: strace does not see %s (%b)", mode, path, n.Bits)
	}
	if t.Failed() {
		t.Logf("%d names by strace, %d by the observer", len(theirs), len(r.Names))
	}
}

// isSocket: strace counts connect among the calls of networks.
func isSocket(path string) bool { return strings.HasSuffix(path, "/nscd/socket") }

func TestTwoRunsSeeTheSame(t *testing.T) {
	for _, s := range subjects(t) {
		t.Run(s.name, func(t *testing.T) {
			if _, err := exec.LookPath(s.needs); err != nil {
				t.Fatal(err)
			}
			top, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			p := place{top + "/here", top + "/scratch"}
			first := p.list(s.observed(t, p, false))
			for _, stops := range []bool{false, true} {
				second := p.list(s.observed(t, p, stops))
				if diff := difference(first, second); len(diff) != 0 {
					t.Errorf("stops %v:\n%s", stops, strings.Join(diff, "\n"))
				}
			}
		})
	}
}

// list is what a report says that has to be the same the next time.
func (p place) list(r *observe.Report) (all []string) {
	for i := range r.Names {
		n := &r.Names[i]
		if !p.leftOut(n.Path) && n.Bits&observe.Made == 0 {
			bits := n.Bits &^ (observe.Sent | observe.Large) // how fresh a file is
			all = append(all, fmt.Sprintf("%s %b %o %d %b %s", n.Path, bits, n.Mode, n.Errno, n.Programs, n.Text))
		}
	}
	for _, u := range r.Uses {
		all = append(all, fmt.Sprintf("use %d %s %b", u.Use, u.Detail, u.Programs))
	}
	slices.Sort(all)
	return all
}

func difference(a, b []string) (all []string) {
	for _, x := range a {
		if _, ok := slices.BinarySearch(b, x); !ok {
			all = append(all, "first "+x)
		}
	}
	for _, x := range b {
		if _, ok := slices.BinarySearch(a, x); !ok {
			all = append(all, "then  "+x)
		}
	}
	return all
}
