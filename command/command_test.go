// The life of a command: compiled once, found again, or not kept.

package command

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"jitcache/core"
	"jitcache/core/key"
	"jitcache/observe/observetest"
)

func TestMain(m *testing.M) { os.Exit(observetest.Main(m, nil)) }

// open opens a cache in a folder of its own.
func open(t *testing.T, dir string) *core.Cache {
	t.Helper()
	c, err := core.Open(core.Options{Values: map[string]string{"directory": dir}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// do runs a job to its end.
func do(t *testing.T, c *core.Cache, s *Spec) *Result {
	t.Helper()
	j, err := New(c, s, os.Environ(), Want{Timeout: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	for start := time.Now(); time.Since(start) < time.Minute; {
		r, done, err := j.Step()
		if err != nil {
			t.Fatal(err)
		}
		if done {
			return r
		}
	}
	t.Fatal("not done after a minute")
	return nil
}

// needsGCC skips a test if there is no gcc.
func needsGCC(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip(err)
	}
}

func compile(dir string, text string, flags ...string) *Spec {
	return &Spec{
		Args:   append(append([]string{"gcc"}, flags...), "-I"+dir, "-c", "a.c", "-o", ".out"),
		Texts:  []Text{{Name: "a.c", Data: []byte(text)}},
		Output: ".out", Kind: "native", Name: "a.c", Withhold: true,
	}
}

func TestResultIsThereAsLongAsTheWorldIsTheSame(t *testing.T) {
	needsGCC(t)
	dir, c := t.TempDir(), open(t, filepath.Join(t.TempDir(), "cache"))
	header := filepath.Join(dir, "b.h")
	put := func(text string) {
		if err := os.WriteFile(header, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("#define B 1\n")
	text := "#include \"b.h\"\nint b(void) { return B; }\n"
	first := do(t, c, compile(dir, text))
	if first.Hit || !first.Kept || first.Why != "" || !strings.HasPrefix(string(first.Blob.Data()), "\x7fELF") {
		t.Fatalf("%+v", first)
	}
	for range 3 {
		// A new Spec acts as another process, which knows only what is stored.
		if again := do(t, c, compile(dir, text)); !again.Hit || string(again.Blob.Data()) != string(first.Blob.Data()) {
			t.Fatalf("%+v", again)
		}
	}
	put("#define B 2\n")
	changed := do(t, c, compile(dir, text))
	if changed.Hit || string(changed.Blob.Data()) == string(first.Blob.Data()) {
		t.Fatal("the edit was not noticed")
	}
	put("#define B 1\n")
	if back := do(t, c, compile(dir, text)); !back.Hit || string(back.Blob.Data()) != string(first.Blob.Data()) {
		t.Errorf("%+v", back)
	}
}

func TestFailureIsNotKeptAndSaysWhy(t *testing.T) {
	needsGCC(t)
	c := open(t, filepath.Join(t.TempDir(), "cache"))
	for range 2 {
		r := do(t, c, compile(t.TempDir(), "#error no\n"))
		if r.Blob != nil || r.Hit || r.Report.Status.ExitStatus() != 1 || !strings.Contains(string(r.Report.Err), "#error no") {
			t.Errorf("%+v", r)
		}
	}
}

func TestWhatCannotBeRepeatedIsMadeAndNotKept(t *testing.T) {
	needsGCC(t)
	c := open(t, filepath.Join(t.TempDir(), "cache"))
	for range 2 {
		r := do(t, c, compile(t.TempDir(), "const char *when = __TIME__;\n"))
		if r.Blob == nil || r.Hit || r.Kept || !strings.Contains(r.Why, "time of day") {
			t.Errorf("%+v", r)
		}
	}
}

// A key holds key.MaxParts components. Those of the request fit; with those of the world
// they do not.
func TestResultWithoutAKeyIsMadeAndNotKept(t *testing.T) {
	c := open(t, filepath.Join(t.TempDir(), "cache"))
	s := &Spec{Args: []string{"/bin/sh", "-c", "echo x > .out"}, Output: ".out", Kind: "native", Withhold: true}
	for n := range key.MaxParts - 5 {
		s.More = append(s.More, Part{Label: fmt.Sprint(n)})
	}
	if r := do(t, c, s); r.Blob == nil || r.Kept || !strings.Contains(r.Why, "components") {
		t.Errorf("%+v", r)
	}
}

// shell returns a request for the output of a shell script.
func shell(script string) *Spec {
	return &Spec{Args: []string{"/bin/sh", "-c", script}, Output: ".out", Kind: "native", Withhold: true}
}

//jitcache:control elsewhere
func TestWhatALinkLeadsToIsKeptOnlyIfTheCommandHasMadeIt(t *testing.T) {
	c, file := open(t, filepath.Join(t.TempDir(), "cache")), filepath.Join(t.TempDir(), "file")
	for _, text := range []string{"one", "two"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		r := do(t, c, shell("ln -s "+file+" .out"))
		if string(r.Blob.Data()) != text || r.Kept || !strings.Contains(r.Why, "elsewhere") {
			t.Errorf("%s: %s, %+v", text, r.Blob.Data(), r)
		}
	}
	own := "mkdir d && echo mine > d/file && ln -s d/file .out"
	do(t, c, shell(own))
	if r := do(t, c, shell(own)); !r.Hit || string(r.Blob.Data()) != "mine\n" {
		t.Errorf("%+v", r)
	}
}

func TestOutputThatIsNoFileIsNone(t *testing.T) {
	c := open(t, filepath.Join(t.TempDir(), "cache"))
	for _, script := range []string{"mkfifo .out", "mkdir .out", "ln -s /dev/zero .out", "ln -s .out .out", ": > .out"} {
		if r := do(t, c, shell(script)); r.Blob != nil || r.Kept {
			t.Errorf("%s: %+v", script, r)
		}
	}
}

func TestWorksWithoutACache(t *testing.T) {
	needsGCC(t)
	r := do(t, nil, compile(t.TempDir(), "int x;\n"))
	if r.Blob == nil || r.Hit || r.Kept {
		t.Errorf("%+v", r)
	}
}

//jitcache:control nolease
func TestManyAtOnceRunOneCommand(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	caches := make([]*core.Cache, 6)
	for i := range caches {
		caches[i] = open(t, dir)
	}
	for round := range 40 {
		ran := make(chan bool, len(caches))
		for _, c := range caches {
			go func() {
				s := &Spec{
					Args: []string{"/bin/sh", "-c", "echo x > .out"}, Texts: []Text{{Name: "round", Data: []byte(fmt.Sprint(round))}},
					Output: ".out", Kind: "native", Withhold: true,
				}
				r := do(t, c, s)
				ran <- r.Report != nil
			}()
		}
		n := 0
		for range caches {
			if <-ran {
				n++
			}
		}
		if n != 1 {
			t.Fatalf("round %d: %d have run it", round, n)
		}
	}
}
