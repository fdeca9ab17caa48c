// Hosts: programs that a test starts in its own place.

package observe

import (
	"bytes"
	"encoding/gob"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// hosts are programs that a test starts in its own place, to be another host.
var hosts = map[string]func(args []string) int{
	"tell": tell, "pass": pass, "hold": hold, "reap": reap, "signals": signals, "interrupt": interruptible,
}

// copyOfTest is where others may run this test.
var copyOfTest = sync.OnceValue(func() string {
	self, err := os.ReadFile("/proc/self/exe")
	path := filepath.Join(built, "host")
	if err == nil {
		err = os.WriteFile(path, self, 0o755)
	}
	if err != nil {
		panic(err)
	}
	return path
})

// hostCommand is this test as another host.
func hostCommand(host string, args ...string) *exec.Cmd {
	c := exec.Command(copyOfTest(), args...)
	c.Env = append(os.Environ(), hostVariable+"="+host, tracerVariable+"="+Tracer)
	return c
}

// behind puts words in front of a host's own.
func behind(host *exec.Cmd, words ...string) *exec.Cmd {
	args := append(words, host.Args...)
	c := exec.Command(args[0], args[1:]...)
	c.Env = host.Env
	return c
}

func complain(err error) int {
	fmt.Fprintln(os.Stderr, err)
	return 2
}

// tell is a host that runs a command, which it reads, and writes the report: from and to
// the files that are named, or its standard ones.
func tell(args []string) int {
	in, out := io.Reader(os.Stdin), io.Writer(os.Stdout)
	if len(args) == 2 {
		from, err := os.Open(args[0])
		if err != nil {
			return complain(err)
		}
		to, err := os.Create(args[1])
		if err != nil {
			return complain(err)
		}
		in, out = from, to
	}
	var c Command
	if err := gob.NewDecoder(in).Decode(&c); err != nil {
		return complain(err)
	}
	run, err := Start(&c)
	if err != nil {
		return complain(err)
	}
	r, err := run.Report()
	if err != nil {
		return complain(err)
	}
	if err := gob.NewEncoder(out).Encode(r); err != nil {
		return complain(err)
	}
	return 0
}

// observeBy observes a command in another host, which is started by c and talks by its
// standard descriptors, or by files.
func observeBy(t *testing.T, host *exec.Cmd, c Command, byFiles bool) *Report {
	t.Helper()
	var in, out, errors bytes.Buffer
	c.Env = os.Environ()
	if c.Stdin == 0 {
		c.Stdin = -1
	}
	if err := gob.NewEncoder(&in).Encode(&c); err != nil {
		t.Fatal(err)
	}
	host.Stdin, host.Stdout, host.Stderr = &in, &out, &errors
	if byFiles {
		dir := t.TempDir()
		if err := os.WriteFile(dir+"/in", in.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		host.Args = append(host.Args, dir+"/in", dir+"/out")
		host.Stdin, host.Stdout = nil, nil
	}
	if err := host.Run(); err != nil {
		t.Fatalf("host: %v: %s", err, &errors)
	}
	if byFiles {
		said, err := os.ReadFile(host.Args[len(host.Args)-1])
		if err != nil {
			t.Fatal(err)
		}
		out.Write(said)
	}
	var r Report
	if err := gob.NewDecoder(&out).Decode(&r); err != nil {
		t.Fatalf("%v: %s", err, &errors)
	}
	return &r
}

// observeAs observes a command as another user.
func observeAs(t *testing.T, user uint32, c Command) *Report {
	t.Helper()
	host := hostCommand("tell")
	host.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user, Gid: user}}
	return observeBy(t, host, c, false)
}

// here is a command with all that this process has, as the launcher runs it.
func here(args []string) *Command {
	dir, _ := os.Getwd()
	return &Command{Args: args, Dir: dir, Env: os.Environ(), Inherit: true, Pass: true}
}

// pass is a launcher: it runs words and ends as they do.
func pass(args []string) int {
	run, err := Start(here(args))
	if err != nil {
		return complain(err)
	}
	r, err := run.Report()
	if err != nil {
		return complain(err)
	}
	if r.Status.Signaled() {
		return 128 + int(r.Status.Signal())
	}
	return r.Status.ExitStatus()
}

// hold runs words, or with "plain" in front runs them plain, and says when they run.
func hold(args []string) int {
	c := &Command{Args: args, Dir: "/", Env: os.Environ(), Stdin: -1}
	if args[0] == "plain" {
		c.Args, c.Plain = args[1:], true
	}
	run, err := Start(c)
	if err != nil {
		return complain(err)
	}
	fmt.Println("started")
	if _, err := run.Report(); err != nil {
		return complain(err)
	}
	return 0
}

// reap is a host that waits for all its children, one of its own among them, while
// commands run. It must not see others.
func reap(args []string) int {
	own := exec.Command("/bin/sleep", "0.3")
	if err := own.Start(); err != nil {
		return complain(err)
	}
	seen, stop := make(chan int, 100), make(chan bool)
	go func() {
		for {
			var status syscall.WaitStatus
			if pid, err := syscall.Wait4(-1, &status, 0, nil); err == nil {
				seen <- pid
			} else if err != syscall.ECHILD && err != syscall.EINTR {
				seen <- -int(err.(syscall.Errno))
			}
			select {
			case <-stop:
				close(seen)
				return
			case <-time.After(time.Millisecond):
			}
		}
	}()
	for range 5 {
		run, err := Start(&Command{Args: args, Dir: "/", Env: os.Environ(), Stdin: -1})
		if err != nil {
			return complain(err)
		}
		r, err := run.Report()
		if err != nil || r.Status.ExitStatus() != 3 || r.Unobserved {
			return complain(fmt.Errorf("%+v %v", r, err))
		}
	}
	time.Sleep(400 * time.Millisecond)
	close(stop)
	for pid := range seen {
		if pid != own.Process.Pid {
			return complain(fmt.Errorf("wait has found %d", pid))
		}
	}
	return 0
}

// signals is a host that ignores SIGCHLD, or has a handler, which must not be called.
func signals(args []string) int {
	told := make(chan os.Signal, 100)
	if args[0] == "ignore" {
		signal.Ignore(syscall.SIGCHLD)
	} else {
		signal.Notify(told, syscall.SIGCHLD)
	}
	for _, inherit := range []bool{false, true} {
		run, err := Start(&Command{Args: args[1:], Dir: "/", Env: os.Environ(), Stdin: -1, Inherit: inherit})
		if err != nil {
			return complain(err)
		}
		r, err := run.Report()
		if err != nil || r.Status != 0 || r.Unobserved {
			return complain(fmt.Errorf("%+v %v", r, err))
		}
		fmt.Print(string(r.Out))
	}
	time.Sleep(50 * time.Millisecond)
	if len(told) != 0 {
		return complain(fmt.Errorf("%d signals", len(told)))
	}
	return 0
}

// interruptible is a launcher that outlives Ctrl-C, to say what its command did.
func interruptible(args []string) int {
	told := make(chan os.Signal, 100)
	signal.Notify(told, os.Interrupt)
	run, err := Start(here(args))
	if err != nil {
		return complain(err)
	}
	fmt.Println("started")
	r, err := run.Report()
	if err != nil {
		return complain(err)
	}
	// The host's own signal may reach it later than the news of the command's.
	for end := time.Now().Add(5 * time.Second); r.Status.Signaled() && len(told) == 0 && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	fmt.Printf("%v %v %d\n", r.Status.Signaled(), r.Status.Signal(), len(told))
	return 0
}

// marked returns the processes one of whose arguments has a mark in it, and the tracers
// whose command has.
func marked(mark string) []string {
	dirs, _ := os.ReadDir("/proc")
	var found []string
	for _, d := range dirs {
		words, err := os.ReadFile("/proc/" + d.Name() + "/cmdline")
		if err == nil && strings.Contains(string(words), mark) && d.Name() != fmt.Sprint(os.Getpid()) {
			found = append(found, d.Name())
		}
	}
	return found
}

// gone waits until no process has a mark, for some seconds. What is left then is ended: a
// control leaves trees that never end.
func gone(t *testing.T, mark string) {
	t.Helper()
	for end := time.Now().Add(5 * time.Second); len(marked(mark)) != 0; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			for _, pid := range marked(mark) {
				status, _ := os.ReadFile("/proc/" + pid + "/status")
				words, _ := os.ReadFile("/proc/" + pid + "/cmdline")
				t.Logf("%s\n%s", bytes.ReplaceAll(words, []byte{0}, []byte{' '}), status)
			}
			left := marked(mark)
			for _, pid := range left {
				if id, err := strconv.Atoi(pid); err == nil {
					syscall.Kill(id, syscall.SIGKILL)
				}
			}
			t.Fatalf("left running: %v", left)
		}
	}
}

// ioctl asks about a descriptor.
func ioctl(fd, request uintptr, value *int32) syscall.Errno {
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, fd, request, uintptr(unsafe.Pointer(value)))
	return errno
}
