// What a command reads, looks for and writes, in its report.

package observe

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestOutputAndStatusAreTheCommands(t *testing.T) {
	modes(t, func(t *testing.T, stops bool) {
		c := &Command{
			Args: []string{"sh", "-c", "echo one; echo two >&2; echo three; exit 3"}, Dir: t.TempDir(), Env: os.Environ(),
			Stdin: -1, Stops: stops,
		}
		r := observeCommand(t, c)
		if r.Status.ExitStatus() != 3 || string(r.Out) != "one\nthree\n" || string(r.Err) != "two\n" || r.Unobserved {
			t.Fatalf("%v, %q, %q, unobserved %v", r.Status, r.Out, r.Err, r.Unobserved)
		}
		want := []Mark{{1, 4}, {2, 4}, {1, 10}}
		if !slices.Equal(r.Marks, want) {
			t.Errorf("order %v, want %v", r.Marks, want)
		}
	})
}

func TestWhatIsReadLookedForAndWritten(t *testing.T) {
	modes(t, func(t *testing.T, stops bool) {
		dir := t.TempDir()
		in := put(t, dir+"/in", "content")
		os.Symlink("in", dir+"/link")
		os.Mkdir(dir+"/sub", 0o755)
		put(t, dir+"/sub/x", "")
		put(t, dir+"/old", "old")
		// However slow the machine is: too fresh for a stamp to prove anything.
		soon := time.Now().Add(time.Hour)
		os.Chtimes(in, soon, soon)
		os.Chtimes(dir+"/sub", soon, soon)
		c := &Command{
			Args: []string{"/bin/sh", "-c", `
				cat link > out; [ -e none ]; [ -e sub/y/z ]; [ -f in ]; ls sub >/dev/null; readlink link >/dev/null
				cat out > out2; rm out2; echo new > old; mkdir made; echo x > made/f; cat made/f >/dev/null`},
			Dir: dir, Env: os.Environ(), Stdin: -1, Stops: stops,
		}
		r := observeCommand(t, c)
		if n := r.named(dir + "/link"); n == nil || n.Bits&Read == 0 || string(n.Content) != "content" || n.Text != "in" {
			t.Errorf("link: %+v", n)
		}
		if n := r.named(in); n == nil || n.Bits&(Looked|Read) != Looked {
			t.Errorf("in: %+v", n)
		}
		for _, absent := range []string{"/none", "/sub/y/z"} {
			if n := r.named(dir + absent); n == nil || n.Mode != 0 || n.Errno == 0 {
				t.Errorf("%s: %+v", absent, n)
			}
		}
		if n := r.named(dir + "/sub"); n == nil || n.Bits&Listed == 0 || !slices.Equal(n.Names, []string{"x"}) {
			t.Errorf("sub: %+v", n)
		}
		for path, want := range map[string]Written{
			"/out": Created, "/out2": Created | Removed, "/old": Replaced, "/made": Created | Folder, "/made/f": Created,
		} {
			if how := r.file(dir + path); how != want {
				t.Errorf("%s: %b, want %b", path, how, want)
			}
		}
		for _, own := range []string{"/out", "/out2", "/made/f"} {
			if n := r.named(dir + own); n != nil && n.Mode != 0 {
				t.Errorf("%s is the tree's own, and an input: %+v", own, n)
			}
		}
	})
}

func TestSourceReadBeforeItIsWrittenIsAnInput(t *testing.T) {
	dir := t.TempDir()
	put(t, dir+"/log", "one\n")
	put(t, dir+"/whole", "one\n")
	r := sh(t, dir, `echo two >> log; cat whole > tmp; cat tmp tmp > whole`)
	if n := r.named(dir + "/log"); n == nil || n.Bits&(Read|Made) != Read|Made || r.file(dir+"/log") != Changed {
		t.Errorf("log: %+v, %b", n, r.file(dir+"/log"))
	}
	if n := r.named(dir + "/whole"); n == nil || n.Bits&(Read|Made) != Read|Made || r.file(dir+"/whole") != Replaced {
		t.Errorf("whole: %+v, %b", n, r.file(dir+"/whole"))
	}
}

func TestRenamedOverIsReplaced(t *testing.T) {
	dir := t.TempDir()
	put(t, dir+"/target", "old")
	put(t, dir+"/source", "new")
	r := sh(t, dir, `echo x > t; mv t target; mv source moved`)
	if how := r.file(dir + "/target"); how != Replaced {
		t.Errorf("target: %b", how)
	}
	if how := r.file(dir + "/t"); how != Created|Removed {
		t.Errorf("t: %b", how)
	}
	if n := r.named(dir + "/source"); n == nil || n.Bits&(Read|Made) != Read|Made || r.file(dir+"/source")&Removed == 0 {
		t.Errorf("source: %+v, %b", n, r.file(dir+"/source"))
	}
}

func TestFoldersAreNamedAsTheyWereEntered(t *testing.T) {
	modes(t, func(t *testing.T, stops bool) {
		dir := t.TempDir()
		put(t, dir+"/real/f", "x")
		os.Symlink("real", dir+"/link")
		c := &Command{
			Args: []string{"/bin/sh", "-c", "cd link; cat f; cat ./../link/f; ls >/dev/null; [ -e g ]"}, Dir: dir,
			Env: os.Environ(), Stdin: -1, Stops: stops,
		}
		r := observeCommand(t, c)
		for _, path := range []string{"/link/f", "/link/./../link/f"} {
			if n := r.named(dir + path); n == nil || n.Bits&Read == 0 {
				t.Errorf("%s: %+v", path, n)
			}
		}
		if n := r.named(dir + "/link/g"); n == nil || n.Mode != 0 {
			t.Errorf("g: %+v", n)
		}
		if n := r.named(dir + "/link/."); n == nil || n.Bits&Listed == 0 {
			t.Errorf("the listed folder is not named as it was entered: %+v", r.Names)
		}
	})
}

func TestScriptsAndLoadersAreRead(t *testing.T) {
	dir := t.TempDir()
	put(t, dir+"/s", "#!/bin/sh\necho hi\n")
	os.Chmod(dir+"/s", 0o755)
	put(t, dir+"/s2", "#! "+dir+"/s -x\n")
	os.Chmod(dir+"/s2", 0o755)
	r := observe(t, dir, "./s2")
	if string(r.Out) != "hi\n" {
		t.Fatalf("%q %q", r.Out, r.Err)
	}
	loader := false
	for i := range r.Names {
		loader = loader || strings.Contains(r.Names[i].Path, "/ld-linux") && r.Names[i].Bits&Ran != 0
	}
	for _, path := range []string{dir + "/./s2", dir + "/s", "/bin/sh"} {
		if n := r.named(path); n == nil || n.Bits&Ran == 0 || n.Mode == 0 {
			t.Errorf("%s: %+v", path, n)
		}
	}
	if !loader || len(r.Programs) != 1 || r.used(UseForeign) {
		t.Errorf("loader %v, programs %+v, uses %+v", loader, r.Programs, r.Uses)
	}
}

//jitcache:control JO_CONTROL_VDSO
func TestWhatCannotBeRepeatedIsSeen(t *testing.T) {
	// Not a script of a version manager that stands in for it.
	found, err := exec.Command("python3", "-c", "import sys; print(sys.executable)").Output()
	if err != nil {
		t.Skip("no python3")
	}
	python := strings.TrimSpace(string(found))
	for name, c := range map[string]struct {
		script string
		want   Use
	}{
		"folder":      {"import os; os.getcwd()", UseFolder},
		"clock":       {"import time; time.time()", UseClock},
		"host":        {"import os; os.uname()", UseHost},
		"connection":  {"import socket; s = socket.socket(); s.close()", UseSocket},
		"named":       {"import socket; s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)", UseSocket},
		"terminal":    {"import os\ntry: os.open('/dev/tty', os.O_RDONLY)\nexcept OSError: pass", UseDevice},
		"namespace":   {"import ctypes; ctypes.CDLL(None).unshare(0)", UseNamespace},
		"tracing":     {"import ctypes; ctypes.CDLL(None).ptrace(0, 0, 0, 0)", UseTrace},
		"shared":      {"import ctypes; ctypes.CDLL(None).shmget(0, 4096, 0)", UseIPC},
		"new call":    {"import ctypes; ctypes.CDLL(None).syscall(1000)", UseUnknown},
		"others":      {"import os; os.path.exists('/proc/1/stat')", UseTrace},
		"io_uring":    {"import ctypes; assert ctypes.CDLL(None).syscall(425, 1, 0) == -1", UseUnknown},
		"time counts": {"import time; time.monotonic(); time.perf_counter(); time.process_time()", 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := observe(t, "/", python, "-S", "-I", "-c", c.script)
			if !r.Status.Exited() || r.Status.ExitStatus() != 0 {
				t.Fatalf("%v: %s", r.Status, r.Err)
			}
			base := observe(t, "/", python, "-S", "-I", "-c", "pass")
			if c.want == 0 {
				for _, u := range r.Uses {
					if !base.used(u.Use) {
						t.Errorf("used: %+v", u)
					}
				}
				return
			}
			if !r.used(c.want) {
				t.Errorf("uses %+v", r.Uses)
			}
			if base.used(c.want) && c.want != UseClock && c.want != UseFolder {
				t.Errorf("python alone uses %d", c.want)
			}
		})
	}
}

func TestInputThatIsReadIsSeenAndNotTaken(t *testing.T) {
	for script, want := range map[string]bool{"true": false, "cat >/dev/null": true, "read x": true, "cat <&0 >/dev/null": true, "(exec 3<&0; true)": true} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		w.WriteString("words\n")
		w.Close()
		rep := observeCommand(t, &Command{Args: []string{"/bin/sh", "-c", script}, Dir: "/", Env: os.Environ(), Stdin: int(r.Fd())})
		if rep.used(UseInput) != want {
			t.Errorf("%s: used %v, want %v", script, rep.used(UseInput), want)
		}
		left := make([]byte, 16)
		if n, _ := r.Read(left); script == "true" && string(left[:n]) != "words\n" {
			t.Errorf("%s: %q is left", script, left[:n])
		}
		r.Close()
	}
}

//jitcache:control JO_CONTROL_ABSENT
func TestProgramThatIsNotThereFailsAsExecDoes(t *testing.T) {
	modes(t, func(t *testing.T, stops bool) {
		r := observeCommand(t, &Command{Args: []string{"no-such-program"}, Dir: "/", Env: []string{"PATH=/usr/bin:/bin"}, Stdin: -1, Stops: stops})
		if r.Failure == 0 || r.Status.ExitStatus() != 127 {
			t.Errorf("%v, failure %v", r.Status, r.Failure)
		}
		if n := r.named("/usr/bin/no-such-program"); n == nil || n.Mode != 0 {
			t.Errorf("PATH was not recorded: %+v", n)
		}
	})
}

func TestPlainRunWorksWithoutATracer(t *testing.T) {
	before := Tracer
	Tracer = ""
	defer func() { Tracer = before }()
	r := observe(t, t.TempDir(), "sh", "-c", "echo $PWD; exit 4")
	if !r.Unobserved || r.Status.ExitStatus() != 4 || len(r.Out) == 0 {
		t.Errorf("%+v", r)
	}
}
