// The process in the command's place: its signals, its output, its end.

package observe

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A process that becomes a command, with what keeps its result behind it.

func init() { hosts["become"] = become }

// become becomes a command; the first word is a script of the shell, to keep its result.
func become(args []string) int {
	keep := func(Files) []string { return []string{"/bin/sh", "sh", "-c", args[0]} }
	return complain(here(args[1:]).Become(&Front{Lock: -1, Keep: keep}))
}

//jitcache:control JO_CONTROL_KEEPING
func TestSignalWhileTheResultIsKeptEndsThat(t *testing.T) {
	for _, number := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGUSR1} {
		if signal.Ignored(number) {
			continue // as below nohup: then nothing is ended by it
		}
		host := hostCommand("become", "echo keeping; read line; echo kept", "/bin/sh", "-c", "echo ran")
		in, err := host.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := host.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := host.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewReader(out)
		for _, want := range []string{"ran\n", "keeping\n"} {
			if line, err := lines.ReadString('\n'); line != want {
				t.Fatalf("%q %v, want %q", line, err, want)
			}
		}
		host.Process.Signal(number)
		late := time.AfterFunc(20*time.Second, func() { in.Close() }) // else it would never end
		rest, _ := lines.ReadString('\n')
		late.Stop()
		in.Close()
		if err := host.Wait(); err != nil || rest != "" {
			t.Fatalf("%v: %v, %q", number, err, rest)
		}
	}
}

//jitcache:control JO_CONTROL_LOSSES
func TestOutputThatCannotBePassedOnFailsAsItWould(t *testing.T) {
	// A write that the command is told of, and the last, of which nobody is.
	for script, want := range map[string]string{
		"printf one; printf two || echo failed >&2": "failed",
		"printf one": "jitcache: write error: No space left on device\n",
	} {
		full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer full.Close()
		var said strings.Builder
		host := hostCommand("become", "echo kept >&2", "/bin/sh", "-c", script)
		host.Stdout, host.Stderr = full, &said
		err = host.Run()
		failed, _ := err.(*exec.ExitError)
		if told := want == "failed"; !strings.Contains(said.String(), want) || told != (failed == nil) {
			t.Errorf("%s: %v: %q", script, err, &said)
		}
	}
}

// The command has ended, and its last output waits for the reader.
//
//jitcache:control JO_CONTROL_OVER
func TestTracerThatWaitsForAReaderTakesNoProcessorTime(t *testing.T) {
	const wait = 600 * time.Millisecond
	const size = 100_000 // a single write, and more than a pipe holds
	host := hostCommand("become", "true", "/bin/cat", put(t, t.TempDir()+"/in", strings.Repeat("x", size)))
	out, err := host.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(wait)
	n, err := io.Copy(io.Discard, out)
	if err != nil || n != size || host.Wait() != nil {
		t.Fatal(n, err)
	}
	// 10 ms are usual. Beside other processes a loop gets a part of a processor only.
	if used := host.ProcessState.UserTime() + host.ProcessState.SystemTime(); used > wait/6 {
		t.Errorf("%v of processor time", used)
	}
}

// Output in a file may be changed as any file.
//
//jitcache:control JO_CONTROL_SOUGHT
func TestOutputIsAFileWhereItShouldComeToOne(t *testing.T) {
	path := t.TempDir() + "/out"
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	fmt.Fprintln(out, "first")
	host := hostCommand("become", "true", program(t, "calls", "calls"), "writes_in_its_output")
	host.Stdout = out
	if err := host.Run(); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(out, "last")
	if text, err := os.ReadFile(path); string(text) != "fiXlast\ncdef" {
		t.Errorf("%q %v", text, err)
	}
}

// clang renames another file over /dev/stdout if that is a file.
//
//jitcache:control JO_CONTROL_STANDS
func TestWhoAsksWhatOutputIsIsToldWhatItStandsFor(t *testing.T) {
	path := t.TempDir() + "/out"
	script := "test -p /dev/stdout && echo pipe; test -f /dev/stdout && echo file; test -s /dev/fd/1 && echo some"
	for to, want := range map[string]string{"| cat >": "pipe\n", ">": "file\nsome\n"} {
		host := hostCommand("become", "true", "/bin/sh", "-c", script)
		shell := exec.Command("/bin/sh", append([]string{"-c", `"$@" ` + to + path, "sh"}, host.Args...)...)
		shell.Env = host.Env
		if said, err := shell.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, said)
		}
		if text, err := os.ReadFile(path); string(text) != want {
			t.Errorf("%s: %q %v", to, text, err)
		}
	}
}

//jitcache:control JO_CONTROL_LATER
func TestWhatIsPrintedByAnotherDescriptorComesAfterWhatWasPrintedBefore(t *testing.T) {
	host := hostCommand("become", "true", program(t, "calls", "calls"), "prints_by_another_descriptor")
	if text, err := host.CombinedOutput(); err != nil || string(text) != "one\ntwo\n" {
		t.Errorf("%q %v", text, err)
	}
}

func TestNothingIsInheritedWhereNoTracerRuns(t *testing.T) {
	before := Tracer
	defer func() { Tracer = before }()
	Tracer = put(t, t.TempDir()+"/jitcache-observe", "no program")
	lock, err := os.Open("/dev/null")
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	var files Files
	c := &Command{Args: []string{"/bin/true"}, Dir: "/", Env: os.Environ(), Inherit: true, Pass: true}
	err = c.Become(&Front{Lock: int(lock.Fd()), Keep: func(f Files) []string { files = f; return []string{"/bin/true"} }})
	if err == nil {
		t.Fatal("became what is no program")
	}
	fds, _ := os.ReadDir("/proc/self/fd")
	found := 0
	for _, d := range fds {
		var fd int
		fmt.Sscan(d.Name(), &fd)
		name, _ := os.Readlink("/proc/self/fd/" + d.Name())
		if fd != int(lock.Fd()) && !strings.HasPrefix(name, "/memfd:jitcache") {
			continue
		}
		found++
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err != nil || flags&unix.FD_CLOEXEC == 0 {
			t.Errorf("%s (%d) would be inherited: %v", name, fd, err)
		}
	}
	if found < 5 {
		t.Errorf("%d descriptors, want the lock and four files", found)
	}
	for _, fd := range []int{files.Report, files.Out, files.Err} {
		unix.Close(fd)
	}
}
