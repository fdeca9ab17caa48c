// Reports of a command that works in rounds.

package observe

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// living is a command that lives on: a script of Python, which is given names and looks
// at each.
type living struct {
	t   *testing.T
	run *Run
	fd  int
}

const lives = `
import ctypes, os, sys
fd, end = int(sys.argv[1]), int(sys.argv[2])
end_round = lambda: ctypes.CDLL(None).syscall(end)
end_round()
os.write(fd, b"+")
while True:
    name = os.read(fd, 4096).decode()
    if not name:
        break
    if name.startswith("read "):
        open(name[5:]).read()
    else:
        os.path.exists(name)
    end_round()
    os.write(fd, b"+" if os.path.isabs(name) else b"-")
`

func live(t *testing.T) *living {
	t.Helper()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	c := &Command{
		Args: []string{"/usr/bin/python3", "-S", "-I", "-c", lives, fmt.Sprint(pair[1]), fmt.Sprint(EndOfRound)},
		Dir:  "/", Env: os.Environ(), Stdin: -1, Channel: pair[1],
	}
	run, err := Start(c)
	unix.Close(pair[1])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(run.Cancel)
	l := &living{t, run, pair[0]}
	t.Cleanup(func() { unix.Close(pair[0]) })
	l.answer()
	return l
}

func (l *living) answer() {
	l.t.Helper()
	fds := []unix.PollFd{{Fd: int32(l.fd), Events: unix.POLLIN}}
	n, err := unix.Poll(fds, 10_000)
	for err == unix.EINTR { // Go's own signals
		n, err = unix.Poll(fds, 10_000)
	}
	if n != 1 || err != nil {
		l.t.Fatalf("no answer: %d, %v", n, err)
	}
	var b [1]byte
	if n, err := unix.Read(l.fd, b[:]); n != 1 || err != nil {
		l.t.Fatalf("no answer: %d, %v", n, err)
	}
}

// look has a name looked at, and returns what was seen so far.
func (l *living) look(name string) *Report {
	l.t.Helper()
	if _, err := unix.Write(l.fd, []byte(name)); err != nil {
		l.t.Fatal(err)
	}
	l.answer()
	rep, err := l.run.Round()
	if err != nil || rep == nil {
		l.t.Fatalf("no report: %v", err)
	}
	return rep
}

//jitcache:control JO_CONTROL_CONTENT
func TestRoundsTellWhatWasSeenSinceTheStart(t *testing.T) {
	l, dir := live(t), t.TempDir()
	start, err := l.run.Round()
	if err != nil || start == nil || len(start.Programs) == 0 || len(start.Names) == 0 {
		t.Fatalf("%+v, %v", start, err)
	}
	put(t, dir+"/one", "1")
	first := l.look("read " + dir + "/one")
	if n := first.named(dir + "/one"); n == nil || string(n.Content) != "1" {
		t.Errorf("%+v", n)
	}
	second := l.look(dir + "/two")
	if n := second.named(dir + "/one"); n == nil || string(n.Content) != "1" {
		t.Errorf("what the first round saw is forgotten: %+v", n)
	}
	if n := second.named(dir + "/two"); n == nil || n.Mode != 0 {
		t.Errorf("%+v", n)
	}
	if len(second.Programs) != len(start.Programs) || len(second.Names) < len(first.Names) {
		t.Errorf("%d programs, %d names", len(second.Programs), len(second.Names))
	}
	for _, u := range second.Uses {
		if u.Use == UseInput || u.Use == UseDescriptor || u.Use == UseUnknown {
			t.Errorf("the channel is an input: %+v", u)
		}
	}
}

// Between two rounds the host makes files: nothing that was believed before is.
func TestFileThatAppearsBetweenRoundsIsFound(t *testing.T) {
	l, dir := live(t), t.TempDir()
	put(t, dir+"/first", "")
	for i := range 40 {
		l.look(fmt.Sprintf("%s/none%d", dir, i))
	}
	for i := range 20 {
		path := put(t, fmt.Sprintf("%s/made%d", dir, i), "")
		if n := l.look(path).named(path); n == nil || n.Mode == 0 {
			t.Fatalf("file %d was told to be absent", i)
		}
	}
}

func TestOutputIsThatOfTheRound(t *testing.T) {
	l := live(t)
	unix.Write(l.run.out, []byte("before"))
	if rep := l.look("/a"); string(rep.Out) != "before" {
		t.Errorf("%q", rep.Out)
	}
	unix.Write(l.run.out, []byte("after"))
	if rep := l.look("/b"); string(rep.Out) != "after" {
		t.Errorf("%q", rep.Out)
	}
}

func TestMarkOfACommandWithoutRoundsIsAnUnknownCall(t *testing.T) {
	r := observe(t, "/", "/usr/bin/python3", "-S", "-I", "-c", fmt.Sprintf("import ctypes; ctypes.CDLL(None).syscall(%d)", EndOfRound))
	if !r.used(UseUnknown) || !strings.Contains(fmt.Sprint(r.Uses), fmt.Sprint(EndOfRound)) {
		t.Errorf("%+v", r.Uses)
	}
}

func TestCommandThatLivesOnEndsWithItsChannel(t *testing.T) {
	l := live(t)
	unix.Shutdown(l.fd, unix.SHUT_RDWR)
	if !l.run.Wait(10 * time.Second) {
		t.Error("it goes on")
	}
}
