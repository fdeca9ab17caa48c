// Known programs ask for no variable that does not count.

package record

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"jitcache/core/wildcard"
)

// asks is preloaded, and notes which variables are asked for.
const asks = `#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static void note(const char *name)
{
	char text[300];
	int fd = open(ASKED, O_WRONLY | O_APPEND | O_CREAT, 0644), n = snprintf(text, sizeof text, "%s\n", name);
	if (write(fd, text, n) != n)
		_exit(9);
	close(fd);
}

char *getenv(const char *name)
{
	char *(*real)(const char *) = dlsym(RTLD_NEXT, "getenv");
	note(name);
	return real(name);
}

char *secure_getenv(const char *name)
{
	char *(*real)(const char *) = dlsym(RTLD_NEXT, "secure_getenv");
	note(name);
	return real(name);
}
`

// elsewhere are variables that are asked for and need not count always.
var elsewhere = []string{
	"HOME", "XDG_CACHE_HOME", "PWD", // as far as something is looked at below
	"TMPDIR", "TMP", "TEMP", "TEMPDIR", // names of temporary files do not count
	"TERM", "COLUMNS", // where something is printed
	"MAKEFLAGS",            // how many links at once
	"bar",                  // LLVM calls getenv("bar") so that the linker keeps a function
	"TBB_VERSION", "KMP_*", // of libraries that work with threads, or allocate
	"INTEL_*", "MIMALLOC_*", "mimalloc_*", "OPENSSL_*", "OMP_*", "RUST_*", "LIBOMP*",
}

// The list of what known programs obey is held against what they ask for.
func TestVariablesThatKnownProgramsAskForCount(t *testing.T) {
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("no gcc")
	}
	w := newWorld(t)
	asked := filepath.Join(w.dir, "asked")
	library := filepath.Join(w.dir, "asks.so")
	build := exec.Command(gcc, "-shared", "-fPIC", "-w", "-DASKED=\""+asked+"\"", w.put("asks.c", asks), "-o", library, "-ldl")
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	w.put("a.c", "int main(void) { return 0; }\n")
	commands := [][]string{
		{"gcc", "-g", "a.c", "-o", "a"},
		{"gcc", "-flto", "a.c", "-o", "a"},
		{"gcc", "--help=common"},
		{"gcc", "-c", "a.c", "-o", "a.o"},
		{"clang", "-g", "a.c", "-o", "a"},
		{"clang", "-c", "a.c", "-o", "a.o"},
		{"ld", "-r", "a.o", "-o", "b.o"},
		{"clang", "-fuse-ld=mold", "a.c"},
		{"gcc", "-fuse-ld=gold", "a.c", "-o", "a"},
		{"clang", "-fuse-ld=lld", "a.c"},
		{"gfortran", "--version"},
		{"as", "/dev/null", "-o", "b.o"},
	}
	for _, target := range []string{
		"x86_64-apple-darwin", "arm64-apple-ios", "armv7-apple-watchos", "arm64-apple-tvos", "x86_64-pc-windows-msvc",
		"amdgcn-amd-amdhsa", "x86_64-scei-ps4", "aarch64-linux-android", "wasm32-wasi",
	} {
		commands = append(commands, []string{"clang", "--target=" + target, "a.c", "-o", "b"})
	}
	for _, g := range generators {
		g.write(w)
		if !g.others {
			commands = append(commands, g.words)
		}
	}
	for _, words := range commands {
		c := exec.Command(words[0], words[1:]...)
		c.Dir, c.Env = w.dir, append(w.env, "LD_PRELOAD="+library)
		_ = c.Run() // what is not there, or cannot link for another system, has asked until then
	}
	text, err := os.ReadFile(asked)
	if err != nil {
		t.Fatal(err)
	}
	names := strings.Fields(string(text))
	slices.Sort(names)
	names = slices.Compact(names)
	if !slices.Contains(names, "COMPILER_PATH") {
		t.Fatalf("nothing was noted: %q", names)
	}
	for _, name := range names {
		if !KnownVariables.counts(name, nil) && !wildcard.MatchesAny(name, elsewhere) {
			t.Errorf("%s is asked for, and does not count", name)
		}
		if isUnasked(name) && !documentedNames().has(name) && !wildcard.MatchesAny(name, elsewhere) {
			t.Errorf("%s is asked for, and taken for one that names a run", name)
		}
	}
}
