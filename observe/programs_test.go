// Programs of many kinds: static, of musl, of Go, scripts.

package observe

import (
	"bytes"
	"debug/elf"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// What a command can be, and what it can be given.

// readsWith runs tests/observe/c/reads.c, or a program that does the same, and returns the
// report. It prints the file, its user, and that it is some time.
func readsWith(t *testing.T, path string) *Report {
	t.Helper()
	dir := folder(t)
	put(t, dir+"/f", "content\n")
	var last *Report
	modes(t, func(t *testing.T, stops bool) {
		last = observeCommand(t, &Command{Args: []string{path, "f"}, Dir: dir, Env: os.Environ(), Stdin: -1, Stops: stops})
		want := fmt.Sprintf("content\n%d 1\n", os.Geteuid())
		if last.Status != 0 || string(last.Out) != want {
			t.Fatalf("%v %q %s", last.Status, last.Out, last.Err)
		}
	})
	return last
}

// sees checks that nothing has passed it by.
func sees(t *testing.T, r *Report) {
	t.Helper()
	found := false
	for i := range r.Names {
		found = found || strings.HasSuffix(r.Names[i].Path, "/f") && r.Names[i].Bits&Read != 0
	}
	if !found || r.named("/none/that/is") == nil {
		t.Errorf("names %+v", r.Names)
	}
	r.uses(t)
	if !r.used(UseClock) {
		t.Errorf("uses %+v", r.Uses)
	}
}

func TestDynamicProgram(t *testing.T) { sees(t, readsWith(t, program(t, "reads", "reads"))) }

func TestStaticProgram(t *testing.T) {
	if err := compile(filepath.Join(t.TempDir(), "static"), "-static", "../tests/observe/c/reads.c"); err != nil {
		t.Skipf("the compiler links nothing statically: %v", err)
	}
	sees(t, readsWith(t, program(t, "reads", "reads-static", "-static")))
}

func TestStaticProgramOfMusl(t *testing.T) {
	cc, err := exec.LookPath("musl-gcc")
	if err != nil {
		t.Skip("no musl-gcc")
	}
	path := filepath.Join(t.TempDir(), "reads")
	if out, err := exec.Command(cc, "-static", "-O2", "-o", path, "../tests/observe/c/reads.c").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	sees(t, readsWith(t, path))
}

func TestProgramOfGo(t *testing.T) {
	dir := t.TempDir()
	put(t, dir+"/main.go", `package main

import ("fmt"; "os"; "time")

func main() {
	text, err := os.ReadFile(os.Args[1])
	if _, absent := os.Stat("/none/that/is"); err != nil || absent == nil {
		os.Exit(1)
	}
	fmt.Printf("%s%d %d\n", text, os.Geteuid(), min(time.Now().Unix(), 1))
}
`)
	build := exec.Command("go", "build", "-o", dir+"/reads", dir+"/main.go")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GO111MODULE=off")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	r := readsWith(t, dir+"/reads")
	// Go's runtime looks for the limits of its container when it starts, by what is mounted.
	r.Uses = slices.DeleteFunc(r.Uses, func(u Used) bool { return u.Use == UseMounts })
	sees(t, r)
}

func TestProgramOf32BitsIsForeign(t *testing.T) {
	path := filepath.Join(t.TempDir(), "reads")
	if out, err := exec.Command("gcc", "-m32", "-O2", "-o", path, "../tests/observe/c/reads.c").CombinedOutput(); err != nil {
		t.Skipf("no gcc -m32: %s", out)
	}
	if r := readsWith(t, path); !r.used(UseForeign) {
		t.Errorf("uses %+v", r.Uses)
	}
}

// loader returns what a program names to load it.
func loader(t *testing.T, path string) string {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			text, err := io.ReadAll(p.Open())
			if err != nil {
				t.Fatal(err)
			}
			return strings.TrimRight(string(text), "\x00")
		}
	}
	t.Fatal("no loader")
	return ""
}

// Where the tracer cannot read what a program is told at its start, it cannot hide the clock
// that asks nobody.
//
//jitcache:control JO_CONTROL_AUXILIARY
func TestProgramWhoseStackCannotBeReadIsNotPassedOver(t *testing.T) {
	asRoot(t) // who is somebody else then, and may read no loader
	dir := folder(t)
	text, err := os.ReadFile(loader(t, program(t, "reads", "reads")))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir+"/loader", text, 0o711); err != nil {
		t.Fatal(err)
	}
	if err := compile(dir+"/reads", "../tests/observe/c/reads.c", "-Wl,-dynamic-linker,"+dir+"/loader"); err != nil {
		t.Fatal(err)
	}
	put(t, dir+"/f", "x")
	modes(t, func(t *testing.T, stops bool) {
		r := observeAs(t, 1000, Command{Args: []string{dir + "/reads", "f"}, Dir: dir, Stops: stops})
		said := false
		for _, u := range r.Uses {
			said = said || u.Use == UseUnreadable && u.Detail == "auxv"
		}
		if r.Status != 0 || r.Unobserved || !said {
			t.Errorf("%v: %s, unobserved %v, uses %+v", r.Status, r.Err, r.Unobserved, r.Uses)
		}
	})
}

// ---- privileges

// privileged copies reads, with a mode and capabilities that it has as the file of root.
func privileged(t *testing.T, mode uint32, capabilities bool) string {
	t.Helper()
	asRoot(t)
	dir := folder(t)
	path := dir + "/privileged"
	text, err := os.ReadFile(program(t, "reads", "reads"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
	if capabilities {
		// Revision 2, effective, CAP_DAC_READ_SEARCH.
		value := []byte{1, 0, 0, 2, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}
		if err := syscall.Setxattr(path, "security.capability", value, 0); err != nil {
			t.Skipf("no file capabilities here: %v", err)
		}
	}
	os.Chmod(put(t, dir+"/f", "secret\n"), 0o600)
	return path
}

//jitcache:control JO_CONTROL_PRIVILEGES
func TestProgramThatNeedsPrivilegesGetsThem(t *testing.T) {
	for name, c := range map[string]struct {
		mode         uint32
		capabilities bool
		user         string
	}{
		"set-id":             {0o4755, false, "0 1"},
		"set-id, unreadable": {0o4711, false, "0 1"},
		"capabilities":       {0o755, true, "1000 1"},
	} {
		t.Run(name, func(t *testing.T) {
			path := privileged(t, c.mode, c.capabilities)
			modes(t, func(t *testing.T, stops bool) {
				script := "echo begun; ( " + path + " f; echo $? )"
				r := observeAs(t, 1000, Command{Args: []string{"/bin/sh", "-c", script}, Dir: filepath.Dir(path), Stops: stops})
				if want := "begun\nsecret\n" + c.user + "\n0\n"; string(r.Out) != want || !r.Unobserved {
					t.Errorf("%q, want %q; unobserved %v; %s", r.Out, want, r.Unobserved, r.Err)
				}
			})
		})
	}
}

func TestPrivilegesThatComeTooLateAreSeen(t *testing.T) {
	path := privileged(t, 0o4755, false)
	os.Chmod(filepath.Dir(path), 0o777)
	script := "echo x > made; " + path + " f; true"
	r := observeAs(t, 1000, Command{Args: []string{"/bin/sh", "-c", script}, Dir: filepath.Dir(path)})
	r.uses(t, UsePrivilege)
}

func TestRootHasItsPrivilegesAnyway(t *testing.T) {
	path := privileged(t, 0o4755, false)
	r := observe(t, filepath.Dir(path), path, "f")
	if string(r.Out) != "secret\n0 1\n" || r.Unobserved {
		t.Errorf("%q, unobserved %v", r.Out, r.Unobserved)
	}
	r.uses(t)
}

// ---- input

// terminal opens a pair.
func terminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip(err)
	}
	var number, unlock int32
	for request, value := range map[uintptr]*int32{0x80045430: &number, 0x40045431: &unlock} { // TIOCGPTN, TIOCSPTLCK
		if err := ioctl(master.Fd(), request, value); err != 0 {
			t.Fatal(err)
		}
	}
	slave, err = os.OpenFile("/dev/pts/"+strconv.Itoa(int(number)), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { master.Close(); slave.Close() })
	return master, slave
}

func TestInputIsGivenAndSeenIfItIsRead(t *testing.T) {
	dir := folder(t)
	file, _ := os.Open(put(t, dir+"/in", "words\n"))
	defer file.Close()
	r, w, _ := os.Pipe()
	defer r.Close()
	w.WriteString("words\n")
	w.Close()
	master, slave := terminal(t)
	master.WriteString("words\n\x04")
	for name, c := range map[string]struct {
		in       *os.File
		terminal bool
	}{"file": {file, false}, "pipe": {r, false}, "terminal": {slave, true}} {
		t.Run(name, func(t *testing.T) {
			script := "test -t 0 && echo terminal; true"
			rep := observeCommand(t, &Command{Args: []string{"/bin/sh", "-c", script}, Dir: dir, Env: os.Environ(), Stdin: int(c.in.Fd())})
			if rep.used(UseInput) || (string(rep.Out) == "terminal\n") != c.terminal {
				t.Errorf("%+v, %q", rep.Uses, rep.Out)
			}
			rep = observeCommand(t, &Command{Args: []string{"/bin/sh", "-c", "read x; echo $x"}, Dir: dir, Env: os.Environ(), Stdin: int(c.in.Fd())})
			if !rep.used(UseInput) || string(rep.Out) != "words\n" {
				t.Errorf("%+v, %q", rep.Uses, rep.Out)
			}
		})
	}
}

func TestDescriptorsAreInheritedIfThatIsWantedAndSeenIfTheyAreUsed(t *testing.T) {
	r, w, _ := os.Pipe()
	defer r.Close()
	defer w.Close()
	fd, _, errno := syscall.Syscall(syscall.SYS_FCNTL, r.Fd(), syscall.F_DUPFD, 50) // without CLOEXEC
	if errno != 0 {
		t.Fatal(errno)
	}
	defer syscall.Close(int(fd))
	run := func(script string, inherit bool) *Report {
		w.WriteString("words\n")
		// The shell knows of descriptors below 10 only.
		python := fmt.Sprintf("import os\nfd = %d\n%s", fd, script)
		return observeCommand(t, &Command{Args: []string{"/usr/bin/env", "python3", "-S", "-I", "-c", python}, Dir: "/", Env: os.Environ(), Stdin: -1, Inherit: inherit})
	}
	if rep := run("print(os.read(fd, 6))", true); !rep.used(UseDescriptor) || string(rep.Out) != "b'words\\n'\n" {
		t.Errorf("%+v, %q %s", rep.Uses, rep.Out, rep.Err)
	}
	if rep := run("os.dup(fd)", true); !rep.used(UseDescriptor) {
		t.Errorf("%+v %s", rep.Uses, rep.Err)
	}
	before := run("", true).used(UseDescriptor) // of others that this process was given
	for _, script := range []string{"os.fstat(fd)", "os.isatty(fd)"} {
		if rep := run(script, true); !rep.used(UseGiven) || rep.used(UseDescriptor) != before || rep.Status != 0 {
			t.Errorf("%s: %+v %s", script, rep.Uses, rep.Err)
		}
	}
	if rep := run("os.fstat(fd)", false); rep.Status == 0 || !strings.Contains(string(rep.Err), "Bad file descriptor") {
		t.Errorf("%v %s", rep.Status, rep.Err)
	}
}

// ---- surroundings

// bit says whether a signal is in a line of /proc/self/status.
func bit(t *testing.T, line string, signal int) bool {
	t.Helper()
	words := strings.Fields(line)
	set, err := strconv.ParseUint(words[len(words)-1], 16, 64)
	if err != nil {
		t.Fatalf("%q", line)
	}
	return set>>(signal-1)&1 != 0
}

func TestSurroundingsAreTheHosts(t *testing.T) {
	dir := folder(t)
	script := "umask; ulimit -n; ulimit -s; pwd; echo $A; grep -E 'Sig(Ign|Blk|Cgt)|Cpus_allowed:' /proc/self/status"
	c := Command{Args: []string{"/bin/sh", "-c", script}, Dir: dir, Env: []string{"A=b", "PATH=/usr/bin:/bin"}, Stdin: -1, Plain: true}
	for _, inherit := range []bool{false, true} {
		c.Inherit = inherit
		c.Plain = true
		plain := observeCommand(t, &c)
		c.Plain = false
		modes(t, func(t *testing.T, stops bool) {
			c.Stops = stops
			if r := observeCommand(t, &c); string(r.Out) != string(plain.Out) || !strings.Contains(string(r.Out), dir+"\nb\n") {
				t.Errorf("observed %q, plain %q", r.Out, plain.Out)
			}
		})
	}
}

func TestCommandThatCannotRunFailsAsItIs(t *testing.T) {
	dir := folder(t)
	put(t, dir+"/noexec", "x")
	put(t, dir+"/garbage", "\x7fELF garbage")
	os.Chmod(dir+"/garbage", 0o755)
	for name, c := range map[string]struct {
		args    []string
		dir     string
		failure syscall.Errno
		status  int
	}{
		"absent": {[]string{"./none"}, dir, syscall.ENOENT, 127},
		"mode":   {[]string{"./noexec"}, dir, syscall.EACCES, 126},
		"folder": {[]string{"/bin/true"}, dir + "/none", syscall.ENOENT, 127},
	} {
		t.Run(name, func(t *testing.T) {
			modes(t, func(t *testing.T, stops bool) {
				for _, plain := range []bool{false, true} {
					r := observeCommand(t, &Command{Args: c.args, Dir: c.dir, Env: os.Environ(), Stdin: -1, Stops: stops, Plain: plain})
					if r.Failure != c.failure || r.Status.ExitStatus() != c.status || r.Unobserved != plain {
						t.Errorf("plain %v: %v, %v, unobserved %v", plain, r.Failure, r.Status, r.Unobserved)
					}
				}
			})
		})
	}
}

// ---- others who write

//jitcache:control JO_CONTROL_UNSTEADY
func TestFileThatTheTreeWaitsForIsSeen(t *testing.T) {
	modes(t, func(t *testing.T, stops bool) {
		dir := folder(t)
		when(t, dir+"/looked", func() { os.WriteFile(dir+"/x", []byte("here\n"), 0o600) })
		script := "while ! [ -e " + dir + "/x ]; do : >looked; sleep 0.005; done; cat x"
		r := observeCommand(t, &Command{Args: []string{"/bin/sh", "-c", script}, Dir: dir, Env: os.Environ(), Stdin: -1, Stops: stops})
		if string(r.Out) != "here\n" || !r.used(UseUnsteady) {
			t.Errorf("%q, %+v", r.Out, r.Uses)
		}
	})
}

func TestFolderThatIsExchangedMeanwhileIsSeen(t *testing.T) {
	dir := folder(t)
	put(t, dir+"/here/f", "old\n")
	put(t, dir+"/there/f", "new\n")
	when(t, dir+"/began", func() {
		os.Rename(dir+"/here", dir+"/gone")
		os.Rename(dir+"/there", dir+"/here")
	})
	script := ": >" + dir + "/began; sleep 1; cat f"
	r := observeCommand(t, &Command{Args: []string{"/bin/sh", "-c", script}, Dir: dir + "/here", Env: os.Environ(), Stdin: -1})
	if string(r.Out) != "old\n" || !r.used(UseUnsteady) {
		t.Errorf("%q, %+v", r.Out, r.Uses)
	}
}

// ---- output

func TestOutputIsPassedOnWhileTheCommandRuns(t *testing.T) {
	host := behind(hostCommand("pass", "yes"), "/bin/sh", "-c", `"$@" | head -2`, "sh")
	out, err := host.CombinedOutput()
	if err != nil || string(out) != "y\ny\n" {
		t.Errorf("%v %q", err, out)
	}
	host = behind(hostCommand("pass", "/bin/sh", "-c", "echo one; echo two >&2; echo three; exit 3"), "/bin/sh", "-c", `"$@"; echo $?`, "sh")
	if out, err = host.CombinedOutput(); err != nil || string(out) != "one\ntwo\nthree\n3\n" {
		t.Errorf("%v %q", err, out)
	}
}

func TestWriterWhoseReaderIsGoneEndsAsItWould(t *testing.T) {
	for _, script := range []string{"yes; echo status $? >&2", "trap '' PIPE; yes 2>/dev/null; echo status $? >&2"} {
		host := behind(hostCommand("pass", "/bin/sh", "-c", script), "/bin/sh", "-c", `"$@" | head -1`, "sh")
		plain := exec.Command("/bin/sh", "-c", `/bin/sh -c "$0" | head -1`, script)
		var got, want [2]bytes.Buffer
		host.Stdout, host.Stderr, plain.Stdout, plain.Stderr = &got[0], &got[1], &want[0], &want[1]
		if err := host.Run(); err != nil || plain.Run() != nil {
			t.Error(err)
		}
		for i := range got {
			if got[i].String() != want[i].String() {
				t.Errorf("%q, want %q", &got[i], &want[i])
			}
		}
	}
}

func TestMoreOutputThanIsKeptIsPassedOnAndSaidSo(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 300 MB")
	}
	size := MaxOutput + 1<<24
	null, err := os.OpenFile("/dev/null", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	r := observe(t, "/", "/bin/sh", "-c", fmt.Sprintf("head -c %d /dev/zero", size))
	if r.Out != nil || !r.used(UseUnreadable) {
		t.Errorf("%d bytes, %+v", len(r.Out), r.Uses)
	}
}
