// Tokens of a job server are no input.

package observe

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// A job server as make gives it, and what else may have its numbers.
type jobServer struct {
	auth    string // what MAKEFLAGS says
	numbers [2]int
}

// inherited duplicates a descriptor so that commands get it.
func inherited(t *testing.T, fd int) int {
	t.Helper()
	got, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD, 60)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Close(got) })
	return got
}

func newPipe(t *testing.T) (r, w int) {
	t.Helper()
	var p [2]int
	if err := syscall.Pipe2(p[:], syscall.O_CLOEXEC|syscall.O_NONBLOCK); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Close(p[0]); syscall.Close(p[1]) })
	syscall.Write(p[1], []byte("++++++++++++++++"))
	return inherited(t, p[0]), inherited(t, p[1])
}

func pipeServer(t *testing.T) jobServer {
	r, w := newPipe(t)
	return jobServer{fmt.Sprintf("--jobserver-auth=%d,%d", r, w), [2]int{r, w}}
}

func fifoServer(t *testing.T) jobServer {
	path := folder(t) + "/fifo"
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	fd, err := syscall.Open(path, syscall.O_RDWR|syscall.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Close(fd) })
	syscall.Write(fd, []byte("++++++++++++++++"))
	return jobServer{auth: "--jobserver-auth=fifo:" + path}
}

// tokens is Python in which R and W are the ends of the job server, or where it is.
const tokens = `
import fcntl, os, select, sys, termios, threading, time
R, W, PATH = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
`

// use observes a script that has a job server.
func (j jobServer) use(t *testing.T, script string) *Report {
	t.Helper()
	path := strings.TrimPrefix(j.auth, "--jobserver-auth=fifo:")
	if j.numbers != [2]int{} {
		path = fmt.Sprintf("/dev/fd/%d", j.numbers[0])
	}
	python := "/usr/bin/python3" // one that a wrapper finds starts slowly
	if _, err := os.Stat(python); err != nil {
		t.Skip(err)
	}
	words := []string{python, "-S", "-I", "-c", tokens + script, fmt.Sprint(j.numbers[0]), fmt.Sprint(j.numbers[1]), path}
	environment := []string{"PATH=" + os.Getenv("PATH"), "MAKEFLAGS= -j2 " + j.auth} // this may be below a make itself
	rep := observeCommand(t, &Command{Args: words, Dir: "/", Env: environment, Stdin: -1, Inherit: true})
	if rep.Status != 0 {
		t.Fatalf("%s: %s", script, rep.Err)
	}
	return rep
}

// isInput reports whether a run used the job server so that its result is not kept, or that it counts.
func (j jobServer) isInput(r *Report) bool {
	path := strings.TrimPrefix(j.auth, "--jobserver-auth=fifo:")
	return slices.ContainsFunc(r.Uses, func(u Used) bool {
		of, _, _ := strings.Cut(u.Detail, " ")
		ours := of == fmt.Sprint(j.numbers[0]) || of == fmt.Sprint(j.numbers[1]) || u.Detail == "job server"
		switch u.Use {
		case UseDescriptor, UseGiven:
			return ours
		case UseDevice:
			return filepath.Clean(u.Detail) == path
		}
		return false
	})
}

func TestTokensOfAJobServerAreNoInput(t *testing.T) {
	again := "R = os.open(PATH, os.O_RDONLY); W = os.open(PATH.replace(str(sys.argv[1]), str(sys.argv[2])), os.O_WRONLY)\n"
	check := func(server func(*testing.T) jobServer, scripts ...string) {
		for _, script := range scripts {
			j := server(t)
			if rep := j.use(t, script); j.isInput(rep) || !rep.used(UseJobServer) {
				t.Errorf("%s: %+v", script, rep.Uses)
			}
		}
	}
	check(pipeServer,
		"os.write(W, os.read(R, 1))",
		"os.fstat(R); fcntl.fcntl(R, fcntl.F_GETFD); fcntl.fcntl(W, fcntl.F_GETFL); os.isatty(R)",
		"select.select([R], [], [])",
		"p = select.poll(); p.register(R, select.POLLIN); p.poll()",
		again+"os.write(W, os.read(R, 1))",
		again+"t = threading.Thread(target=lambda: os.write(W, os.read(R, 1))); t.start(); t.join()",
		"D = os.dup(R); os.read(D, 1); os.write(W, b'+')",
	)
	check(fifoServer,
		"F = os.open(PATH, os.O_RDWR); os.write(F, os.read(F, 1))",
		"R = os.open(PATH, os.O_RDONLY); W = os.open(PATH, os.O_WRONLY); os.write(W, os.read(R, 1))",
		"os.stat(PATH); os.access(PATH, os.W_OK)",
	)
}

// Its number of tokens would be one, and what somebody sends through it.
//
//jitcache:control JO_CONTROL_STEPS
func TestAnyOtherUseOfAJobServerIsAnInput(t *testing.T) {
	check := func(server func(*testing.T) jobServer, scripts ...string) {
		for _, script := range scripts {
			j := server(t)
			if rep := j.use(t, script); !j.isInput(rep) {
				t.Errorf("%s: %+v", script, rep.Uses)
			}
		}
	}
	check(pipeServer,
		"os.read(R, 2)",
		"os.write(W, b'++')",
		"fcntl.ioctl(R, termios.FIONREAD, bytes(4))",
		"os.read(os.open(PATH, os.O_RDONLY), 5)",
		"D = os.open(PATH, os.O_RDONLY); t = threading.Thread(target=lambda: os.read(D, 5)); t.start(); t.join()",
		"G = []\nt = threading.Thread(target=lambda: (time.sleep(.2), os.read(G[0], 5))); t.start(); G.append(os.open(PATH, os.O_RDONLY)); t.join()",
		"D = os.open(PATH, os.O_RDONLY)\nif os.fork() == 0: os.read(D, 5); os._exit(0)\nos.wait()",
		"D = os.dup(R); os.set_inheritable(D, True); os.posix_spawn('/bin/sh', ['sh', '-c', f'head -c 5 <&{D}'.replace('<&', '< /dev/fd/')], os.environ); os.wait()",
		"os.read(os.dup(R), 3)",
		"fcntl.ioctl(os.dup(R), termios.FIONREAD, bytes(4))",
		"os.readlink(PATH)",
	)
	check(fifoServer,
		"F = os.open(PATH, os.O_RDWR); os.read(F, 5)",
		"F = os.open(PATH, os.O_RDWR); os.write(F, b'++')",
		"os.open(os.path.dirname(PATH) + '/./fifo', os.O_RDWR)",
	)
}

// make 4.3 names the same two numbers to every command, also where it does not give them.
//
//jitcache:control JO_CONTROL_JOBSERVER
func TestWhatMakeOnlyNamesIsAnInput(t *testing.T) {
	dir := folder(t)
	put(t, dir+"/data", "words\n")
	file, err := syscall.Open(dir+"/data", syscall.O_RDWR|syscall.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(file)
	data := inherited(t, file)
	r, w := newPipe(t)
	other, _ := newPipe(t)
	for _, numbers := range [][2]int{{data, data}, {data, w}, {r, data}, {r, 999}, {r, r}, {r, other}, {other, w}} {
		j := jobServer{fmt.Sprintf("--jobserver-auth=%d,%d", numbers[0], numbers[1]), numbers}
		if rep := j.use(t, "os.read(R, 1)"); !j.isInput(rep) || rep.used(UseJobServer) {
			t.Errorf("%v: %+v", numbers, rep.Uses)
		}
	}
	// The last one counts, and one that another variable names.
	j := jobServer{fmt.Sprintf("--jobserver-auth=%d,%d --jobserver-auth=%d,%d", r, w, data, data), [2]int{r, w}}
	if rep := j.use(t, "os.read(R, 1)"); !j.isInput(rep) {
		t.Errorf("%+v", rep.Uses)
	}
}
