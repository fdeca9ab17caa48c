// A compile is unchanged until something changes that it looked at.

package record

import (
	"bytes"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"jitcache/observe"
	"jitcache/observe/observetest"
)

func TestMain(m *testing.M) { os.Exit(observetest.Main(m, nil)) }

// world is a folder in which commands are run.
type world struct {
	t   *testing.T
	dir string
	env []string

	compiler *Compiler
	timeless bool
}

func newWorld(t *testing.T) *world {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return &world{t: t, dir: dir, env: Withhold(os.Environ())}
}

func (w *world) put(name, text string) string {
	w.t.Helper()
	path := filepath.Join(w.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
	return path
}

// needs skips a test where there is no such program.
func (w *world) needs(name string) {
	w.t.Helper()
	if _, err := exec.LookPath(name); err != nil && !strings.Contains(name, "/") {
		w.t.Skip(err)
	}
}

// run runs a command and makes its list.
func (w *world) run(args ...string) (*List, error) {
	w.t.Helper()
	w.needs(args[0])
	for _, word := range strings.Fields(strings.Join(args[1:], " ")) {
		if word == "gcc" || word == "clang" { // by a shell, or env
			w.needs(word)
		}
	}
	w.t.Helper()
	started, err := observe.Start(&observe.Command{Args: args, Dir: w.dir, Env: w.env, Stdin: -1})
	if err != nil {
		w.t.Fatal(err)
	}
	rep, err := started.Report()
	if err != nil {
		w.t.Fatal(err)
	}
	if rep.Status.ExitStatus() != 0 {
		w.t.Fatalf("%v: %v\n%s", args, rep.Status, rep.Err)
	}
	r := Run{Report: rep, Dir: w.dir, Env: w.env, Compiler: w.compiler, Timeless: w.timeless, Leaves: func(path string) bool { return strings.HasPrefix(path, w.dir) }}
	return r.Take()
}

func (w *world) surroundings() *Surroundings { return &Surroundings{Dir: w.dir, Env: w.env} }

//jitcache:control nochildren
func TestCompileIsUnchangedUntilSomethingThatItLookedAtChanges(t *testing.T) {
	w := newWorld(t)
	w.put("a.c", "#include <stdio.h>\n#include \"b.h\"\nint main(void) { return B; }\n")
	w.put("inc/b.h", "#define B 1\n")
	w.put("early/none", "")
	l, err := w.run("gcc", "-Iearly", "-Iinc", "-c", "a.c", "-o", "a.o")
	if err != nil {
		t.Fatal(err)
	}
	again, err := Parse(l.Append(nil))
	if err != nil || !again.Equal(l) {
		t.Fatalf("%v", err)
	}
	l = again
	if state, why := l.Check(w.surroundings()); state == Changed {
		t.Fatal(why)
	}
	start := time.Now()
	state, why := l.Check(w.surroundings())
	t.Logf("%d files, %d folders, %d links, %d failures; %d bytes; check %v, %v %s", len(l.Files), len(l.Folders), len(l.Links),
		len(l.Failures), len(l.Append(nil)), time.Since(start), state, why)
	t.Logf("%+v", l.World)
	w.put("early/b.h", "#define B 2\n")
	if state, why := l.Check(w.surroundings()); state != Changed || !strings.Contains(why, "early/b.h") {
		t.Errorf("state %d, %s", state, why)
	}
	os.Remove(w.dir + "/early/b.h")
	if state, why := l.Check(w.surroundings()); state == Changed {
		t.Error(why)
	}
	w.put("inc/b.h", "#define B 3\n")
	if state, why := l.Check(w.surroundings()); state != Changed || !strings.Contains(why, "inc/b.h") {
		t.Errorf("state %d, %s", state, why)
	}
}

func TestLibrariesThatAProgramNamesAreThoseOfItsDynamicSection(t *testing.T) {
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("no gcc")
	}
	dir := t.TempDir()
	out := filepath.Join(dir, "lib")
	if text, err := exec.Command(gcc, "-shared", "-x", "c", "/dev/null", "-Wl,--no-as-needed", "-lm", "-o", out).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	f, err := elf.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	want, _ := f.ImportedLibraries()
	if got := importsOf(out); !slices.Equal(got, want) || len(got) < 2 || !isShared(out) {
		t.Errorf("%q, want %q", got, want)
	}
	// What is cut short names less, and nothing breaks.
	whole, _ := os.ReadFile(out)
	for n := range min(len(whole), 2000) {
		imports(bytes.NewReader(whole[:n]))
	}
}

func TestOnlyWhatPythonMakesOfItsSourcesIsScratch(t *testing.T) {
	for path, scratch := range map[string]bool{
		"/src/__pycache__": true, "/src/__pycache__/a.cpython-311.pyc": true, "/src/__pycache__/a.cpython-311.pyc.140234": true,
		"/src/a.pyc": false, "/src/__pycache__/a.o": false, "/src/__pycache__/a.pyc.o": false, "/src/__pycache__/b/a.pyc": false,
		"/src/__pycache__/.pyc": false, "/src/my__pycache__/a.pyc": false,
	} {
		if IsScratch(path) != scratch {
			t.Errorf("%s: %v", path, !scratch)
		}
	}
}
