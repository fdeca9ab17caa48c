// The tracer, scenes and reports for the tests of this package.

package observe

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Variables of the tests: what the tracer goes without (tracer/control.h), and how a
// test starts itself as another host.
const (
	withoutVariable = "JITCACHE_TEST_OBSERVE_WITHOUT"
	hostVariable    = "JITCACHE_TEST_OBSERVE_HOST"
	tracerVariable  = "JITCACHE_TEST_OBSERVE_TRACER"
)

// built is the folder of the tracer and of the programs that tests run.
var built string

// TestMain builds the tracer as the library's build does, with warnings as errors.
func TestMain(m *testing.M) {
	if host := os.Getenv(hostVariable); host != "" {
		Tracer = os.Getenv(tracerVariable)
		os.Exit(hosts[host](os.Args[1:]))
	}
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "observe-test-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		os.Chmod(dir, 0o755)
		built = dir
		sources, _ := filepath.Glob("tracer/*.c")
		Tracer = filepath.Join(dir, "jitcache-observe")
		args := append(sources, "-lpthread")
		if without := os.Getenv(withoutVariable); without != "" {
			args = append(args, "-DJO_CONTROL="+without)
		}
		if err := compile(Tracer, args...); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return m.Run()
	}())
}

// compile compiles C, with the compiler that the library is built with.
func compile(output string, args ...string) error {
	cc := strings.Fields(os.Getenv("CC"))
	if len(cc) == 0 {
		cc = []string{"cc"}
	}
	words := append(cc[1:], "-std=gnu11", "-D_GNU_SOURCE", "-O2", "-Wall", "-Wextra", "-Werror", "-o", output)
	out, err := exec.Command(cc[0], append(words, args...)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", output, err, out)
	}
	return nil
}

var programs sync.Map

// program returns a program of tests/observe/c, compiled with flags; name may differ
// from that of the source.
func program(t *testing.T, source, name string, flags ...string) string {
	t.Helper()
	path := filepath.Join(built, name)
	once, _ := programs.LoadOrStore(name, sync.OnceValue(func() error {
		return compile(path, append([]string{"../tests/observe/c/" + source + ".c", "-lpthread"}, flags...)...)
	}))
	if err := once.(func() error)(); err != nil {
		t.Fatal(err)
	}
	return path
}

// observe runs words in a folder.
func observe(t *testing.T, dir string, args ...string) *Report {
	t.Helper()
	return observeCommand(t, &Command{Args: args, Dir: dir, Env: os.Environ(), Stdin: -1})
}

func observeCommand(t *testing.T, c *Command) *Report {
	t.Helper()
	run, err := Start(c)
	if err != nil {
		t.Fatal(err)
	}
	if !run.Wait(time.Minute) {
		run.Cancel()
		t.Fatal("still running after a minute")
	}
	rep, err := run.Report()
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

// named returns the entry of a path.
func (r *Report) named(path string) *Name {
	for i := range r.Names {
		if r.Names[i].Path == path {
			return &r.Names[i]
		}
	}
	return nil
}

// file says what became of a file, but not how it was opened.
func (r *Report) file(path string) Written {
	for _, f := range r.Files {
		if f.Path == path {
			return f.How &^ (Added | InPlace | Moded)
		}
	}
	return 0
}

func (r *Report) used(u Use) bool {
	return slices.ContainsFunc(r.Uses, func(x Used) bool { return x.Use == u })
}

// sh observes a script of the shell in a folder.
func sh(t *testing.T, dir, script string) *Report {
	t.Helper()
	return observe(t, dir, "/bin/sh", "-c", script)
}

func put(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// modes runs a test with notices and with stops only.
func modes(t *testing.T, f func(t *testing.T, stops bool)) {
	for _, stops := range []bool{false, true} {
		t.Run(map[bool]string{false: "notices", true: "stops"}[stops], func(t *testing.T) { f(t, stops) })
	}
}

// play plays a scene of a program, plain and then observed in both modes, each time in a
// folder that is made anew, and calls check with each report of the observer. Where the
// scene comes out otherwise than plain the test has failed.
func play(t *testing.T, source, scene string, prepare func(dir string), check func(t *testing.T, dir string, r *Report)) {
	t.Helper()
	path := program(t, source, source)
	run := func(t *testing.T, c Command) *Report {
		t.Helper()
		c.Args, c.Dir, c.Env, c.Stdin = []string{path, scene}, folder(t), os.Environ(), -1
		prepare(c.Dir)
		r := observeCommand(t, &c)
		if r.Status != 0 || len(r.Err) != 0 {
			t.Fatalf("%v: %s", r.Status, r.Err)
		}
		if !c.Plain {
			check(t, c.Dir, r)
		}
		return r
	}
	plain := run(t, Command{Plain: true})
	modes(t, func(t *testing.T, stops bool) {
		if r := run(t, Command{Stops: stops}); !bytes.Equal(r.Out, plain.Out) || r.Unobserved {
			t.Errorf("prints %q, and %q unobserved; unobserved: %v", r.Out, plain.Out, r.Unobserved)
		}
	})
}

// folder returns a folder for everybody, whose path has no links.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	os.Chmod(dir, 0o755)
	os.Chmod(filepath.Dir(dir), 0o755)
	return dir
}

// expect holds names of a report against what was to be noted: "" for none; "absent";
// else letters of what was done.
func (r *Report) expect(t *testing.T, dir string, want map[string]string) {
	t.Helper()
	for name, letters := range want {
		path := name
		if !strings.HasPrefix(name, "/") {
			path = dir + "/" + name
		}
		got, n := "", r.named(path)
		switch {
		case n == nil:
		case n.Bits&Text != 0 && n.Mode == 0:
			got = "t"
		case n.Mode == 0 && n.Errno == 2:
			got = "absent"
		case n.Mode == 0:
			got = n.Errno.Error()
		default:
			for i, letter := range "lrxstp" {
				if n.Bits&(1<<i) != 0 {
					got += string(letter)
				}
			}
		}
		if got != letters {
			t.Errorf("%s: %q, want %q", name, got, letters)
		}
	}
}

// wrote holds the files of a report against what was to be noted.
func (r *Report) wrote(t *testing.T, dir string, want map[string]Written) {
	t.Helper()
	for name, how := range want {
		if got := r.file(dir + "/" + name); got != how {
			t.Errorf("%s: written %b, want %b", name, got, how)
		}
	}
}

// uses holds the uses beyond inputs against what was to be noted.
func (r *Report) uses(t *testing.T, want ...Use) {
	t.Helper()
	var got []Use
	for _, u := range r.Uses {
		if u.Use > UseLimits && u.Use != UseUmask && u.Use < UseStdin {
			got = append(got, u.Use)
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if got = slices.Compact(got); !slices.Equal(got, want) {
		t.Errorf("uses %+v, want %v", r.Uses, want)
	}
}

// when calls fn as soon as a file is there.
func when(t *testing.T, path string, fn func()) {
	done := make(chan struct{})
	t.Cleanup(func() { close(done) })
	go func() {
		for {
			if _, err := os.Stat(path); err == nil {
				fn()
				return
			}
			select {
			case <-done:
				return
			case <-time.After(time.Millisecond):
			}
		}
	}()
}
