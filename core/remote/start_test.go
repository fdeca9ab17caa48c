// A helper that is started has nothing of its host, and the host is told nothing.

package remote

import (
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// asUser runs fn as another user, on a thread that is not used again.
func asUser(uid uintptr, fn func() error) error {
	runtime.LockOSThread()
	if _, _, e := syscall.RawSyscall(syscall.SYS_SETRESUID, ^uintptr(0), uid, ^uintptr(0)); e != 0 {
		return e
	}
	return fn()
}

// started runs a script as a helper, and returns what it has written.
func started(t *testing.T, script string) string {
	t.Helper()
	dir := t.TempDir()
	program := dir + "/helper"
	os.WriteFile(program, []byte("#!/bin/sh\n("+script+") >"+dir+"/draft 2>&1\nmv "+dir+"/draft "+dir+"/out\n"), 0o755)
	if err := startHelper(program, []string{"PATH=/usr/bin:/bin", "ONE=1"}); err != nil {
		t.Fatal(err)
	}
	for range 500 {
		if text, err := os.ReadFile(dir + "/out"); err == nil {
			return string(text)
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("it writes nothing")
	return ""
}

// ignoreGlibcsOwn ignores signal 32, as posix_spawn does in what it starts; the function
// that it returns undoes that.
func ignoreGlibcsOwn() func() {
	ignored, before := [4]uintptr{1}, [4]uintptr{}
	set := func(to, old *[4]uintptr) {
		syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, 32, uintptr(unsafe.Pointer(to)), uintptr(unsafe.Pointer(old)), 8, 0, 0)
	}
	set(&ignored, &before)
	return func() { set(&before, &ignored) }
}

//jitcache:control inherits
func TestHelperHasNothingOfItsHost(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	high, _, _ := syscall.Syscall(syscall.SYS_FCNTL, w.Fd(), syscall.F_DUPFD, 200) // which is inherited
	signal.Ignore(syscall.SIGUSR1)
	defer signal.Reset(syscall.SIGUSR1)
	defer ignoreGlibcsOwn()()
	out := started(t, `ls -l /proc/$$/fd; pwd; env; grep -E "SigIgn|SigBlk|Umask" /proc/self/status; cut -d" " -f6 /proc/$$/stat; echo $$`)
	syscall.Close(int(high))
	w.Close()
	lines := strings.Split(strings.TrimSpace(out), "\n")
	for _, line := range lines {
		fields := strings.Fields(line)
		for i, f := range fields {
			if f != "->" {
				continue
			}
			// The script itself is open as 10 or so, by the shell.
			if fd, _ := strconv.Atoi(fields[i-1]); fd > 2 && !strings.HasSuffix(line, "/helper") {
				t.Errorf("it has %s", line)
			} else if fd == 0 && !strings.HasSuffix(line, "/dev/null") {
				t.Errorf("it has %s", line)
			}
		}
		if strings.HasPrefix(line, "Sig") && strings.Trim(fields[1], "0") != "" {
			t.Errorf("signals: %s", line)
		}
		if strings.HasPrefix(line, "Umask") && fields[1] != "0077" {
			t.Error(line)
		}
	}
	if n := len(lines); lines[n-1] != lines[n-2] {
		t.Errorf("process %s is in session %s", lines[n-1], lines[n-2])
	}
	for _, want := range []string{"\n/\n", "\nONE=1\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("there is no %q in %s", want, out)
		}
	}
	if strings.Contains(out, "HOME=") {
		t.Error("it has the host's environment")
	}
}

func TestHostIsNotToldOfItsHelper(t *testing.T) {
	children := make(chan os.Signal, 8)
	signal.Notify(children, syscall.SIGCHLD)
	defer signal.Stop(children)
	for range 20 {
		started(t, "true")
	}
	if pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); err != syscall.ECHILD {
		t.Errorf("there is a child: %d, %v", pid, err)
	}
	select {
	case <-children:
		t.Error("there was a SIGCHLD")
	case <-time.After(50 * time.Millisecond):
	}
}

func TestManyHelpersAreStartedFromManyThreads(t *testing.T) {
	dir := t.TempDir()
	program := dir + "/helper"
	os.WriteFile(program, []byte("#!/bin/sh\n: >"+dir+"/$$.ran\n"), 0o755)
	errs := make(chan error)
	for range 32 {
		go func() { errs <- startHelper(program, []string{"PATH=/usr/bin:/bin"}) }()
	}
	for range 32 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	for range 300 {
		if all, _ := filepath.Glob(dir + "/*.ran"); len(all) == 32 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("not all of them have run")
}

// Where no program may be started, each lookup learns that at once, and not only the first.
//
//jitcache:control waitsforstart
func TestHelperThatCannotBeStartedIsNotWaitedFor(t *testing.T) {
	dir := t.TempDir()
	program := dir + "/helper"
	os.WriteFile(program, []byte("#!/bin/sh\n"), 0o644) // nobody may execute it
	r, err := New(Setting{URL: "redis://test"}, Options{Folder: dir + "/sockets", Program: program, Env: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	for n := range 4 {
		began := time.Now()
		_, err := r.connect(began.Add(5 * time.Second))
		if err == nil || !strings.Contains(err.Error(), "cannot be started") {
			t.Errorf("%d after %v: %v", n, time.Since(began), err)
		}
	}
}
