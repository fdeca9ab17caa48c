// A lock has one holder at a time, and is free once that has ended.

package lockfile

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestMain lets the test binary be the other process.
func TestMain(m *testing.M) {
	if path := os.Getenv("LOCKFILE_TEST_HOLD"); path != "" {
		l, err := Try(folder(filepath.Dir(path)), strings.TrimSuffix(filepath.Base(path), Suffix), 0o600, Self().String)
		if l == nil {
			println("not mine", err)
			os.Exit(1)
		}
		os.Stdout.WriteString("held\n")
		bufio.NewReader(os.Stdin).ReadString('\n')
		l.Remove()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// folder is a Folder that does exist, or not.
func folder(dir string) Folder {
	return func() (int, error) {
		fd, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			return -1, &fs.PathError{Op: "open", Path: dir, Err: err}
		}
		return fd, nil
	}
}

// tryFile tries the lock of a file.
func tryFile(path string) (*Lock, error) {
	return Try(folder(filepath.Dir(path)), strings.TrimSuffix(filepath.Base(path), Suffix), 0o600, nil)
}

// fileIn is the file of a lock with a name.
func fileIn(dir, name string) string { return filepath.Join(dir, name+Suffix) }

// hold has another process hold a lock until release is called.
func hold(t *testing.T, path string) (p *os.Process, release func()) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), "LOCKFILE_TEST_HOLD="+path)
	in, _ := cmd.StdinPipe()
	out, _ := cmd.StdoutPipe()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "held\n" {
		t.Fatalf("the other process says %q, %v", line, err)
	}
	release = func() {
		in.Close()
		cmd.Wait()
	}
	t.Cleanup(release)
	return cmd.Process, release
}

func TestLockIsHeldByOneOfTwoProcesses(t *testing.T) {
	path := fileIn(t.TempDir(), "a")
	_, release := hold(t, path)
	if l, err := tryFile(path); l != nil || err != nil {
		t.Fatalf("held elsewhere, but %v, %v", l, err)
	}
	release()
	l, err := tryFile(path)
	if l == nil {
		t.Fatalf("free, but %v", err)
	}
	l.Remove()
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file is still there: %v", err)
	}
}

func TestLockIsFreeOnceItsHolderIsKilled(t *testing.T) {
	path := fileIn(t.TempDir(), "a")
	p, _ := hold(t, path)
	p.Kill()
	p.Wait()
	start := time.Now()
	for {
		l, err := tryFile(path)
		if l != nil {
			l.Remove()
			return
		}
		if time.Since(start) > time.Minute {
			t.Fatalf("still held: %v", err)
		}
		time.Sleep(time.Millisecond)
	}
}

func TestLockIsHeldByOneOfTwoCallers(t *testing.T) {
	path := fileIn(t.TempDir(), "a")
	l, err := tryFile(path)
	if l == nil {
		t.Fatal(err)
	}
	if second, _ := tryFile(path); second != nil {
		t.Error("taken twice in one process")
	}
	l.Unlock()
	if l, err = tryFile(path); l == nil {
		t.Errorf("unlocked, but %v", err)
	} else {
		l.Remove()
	}
}

func TestLockOnARemovedFileIsTakenAgain(t *testing.T) {
	path := fileIn(t.TempDir(), "a")
	first, _ := tryFile(path)
	os.Remove(path)
	second, err := tryFile(path)
	if second == nil {
		t.Fatalf("the path is free, but %v", err)
	}
	first.Unlock()
	second.Remove()
}

// Many take one lock and remove its file, so that some lock a file that was removed
// meanwhile.
//
//jitcache:control nosamefile
func TestLockThatIsRemovedAtEachReleaseHasOneHolder(t *testing.T) {
	path := fileIn(t.TempDir(), "a")
	var holders, taken, shared atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for end := time.Now().Add(500 * time.Millisecond); time.Now().Before(end); {
				l, err := tryFile(path)
				if err != nil {
					t.Error(err)
					return
				}
				if l == nil {
					continue
				}
				if holders.Add(1) > 1 {
					shared.Add(1)
				}
				time.Sleep(100 * time.Microsecond)
				holders.Add(-1)
				taken.Add(1)
				l.Remove()
			}
		})
	}
	wg.Wait()
	if taken.Load() == 0 || shared.Load() > 0 {
		t.Errorf("taken %d times, %d of them while another had it", taken.Load(), shared.Load())
	}
}

//jitcache:control norefusal
func TestWhereNothingCanBeLockedSaysSo(t *testing.T) {
	dir := t.TempDir()
	if _, err := tryFile(fileIn(filepath.Join(dir, "missing"), "a")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing folder: %v", err)
	}
	if err := os.Symlink("/etc/passwd", fileIn(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if l, err := tryFile(fileIn(dir, "link")); l != nil || !errors.Is(err, ErrUnsupported) {
		t.Errorf("symbolic link: %v, %v", l, err)
	}
}

func TestOwnerIsWhoItSays(t *testing.T) {
	me := Self()
	if me.Pid != os.Getpid() || me.Start == 0 {
		t.Fatalf("%+v", me)
	}
	if got, ok := ParseOwner(me.String() + ".7.so"); !ok || got != me {
		t.Errorf("%q parses to %+v", me.String(), got)
	}
	if s := me.State(); s != Running {
		t.Errorf("this process is in state %d", s)
	}
	for _, bad := range []string{"", "a-b-c-d", "1-2-3", "x.1", "abc-1--1-1"} {
		if _, ok := ParseOwner(bad); ok {
			t.Errorf("%q parses", bad)
		}
	}
	elsewhere := me
	elsewhere.Boot = "00000000"
	if s := elsewhere.State(); s != Unknown {
		t.Errorf("a process of another machine is in state %d", s)
	}
	reused := me
	reused.Start++
	if s := reused.State(); s != Gone {
		t.Errorf("a process whose number was used again is in state %d", s)
	}
}

func TestOwnerThatIsStoppedOrGoneIsSeen(t *testing.T) {
	path := fileIn(t.TempDir(), "a")
	p, _ := hold(t, path)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	o, ok := ParseOwner(strings.TrimSpace(string(text)))
	if !ok || o.Pid != p.Pid || o.State() != Running {
		t.Fatalf("%+v, %v, state %d", o, ok, o.State())
	}
	p.Signal(syscall.SIGSTOP)
	wait(t, func() bool { return o.State() == Stopped })
	p.Signal(syscall.SIGCONT)
	wait(t, func() bool { return o.State() == Running })
	p.Kill()
	p.Wait()
	if s := o.State(); s != Gone {
		t.Errorf("killed, state %d", s)
	}
}

func wait(t *testing.T, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if cond() {
			return
		}
	}
	t.Fatal("it does not happen")
}

func TestWriteReplacesWhatADeadHolderHasLeft(t *testing.T) {
	path := fileIn(t.TempDir(), "a")
	if err := os.WriteFile(path, []byte(strings.Repeat("longer ", 20)), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := Try(folder(filepath.Dir(path)), "a", 0o600, func() string { return "mine\n" })
	if l == nil || err != nil {
		t.Fatal(l, err)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "mine\n" {
		t.Errorf("%q, %v", b, err)
	}
	l.Remove()
}

// In a folder that others may write, anything may be in the place of a lock file.
//
//jitcache:control anyfile
func TestWhatIsNoFileOfItsOwnIsNotLockedNorRead(t *testing.T) {
	for name, make := range map[string]func(path string) error{
		"FIFO":        func(path string) error { return unix.Mkfifo(path, 0o600) },
		"folder":      func(path string) error { return os.Mkdir(path, 0o700) },
		"socket":      func(path string) error { return unix.Mknod(path, unix.S_IFSOCK|0o600, 0) },
		"link":        func(path string) error { return os.Symlink("file", path) },
		"second name": func(path string) error { return os.Link(filepath.Dir(path)+"/file", path) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(dir+"/file", []byte("another's"), 0o640); err != nil {
				t.Fatal(err)
			}
			if err := make(fileIn(dir, "a")); err != nil {
				t.Fatal(err)
			}
			sign := func() string { return "mine" }
			if l, err := Try(folder(dir), "a", 0o600, sign); l != nil || !errors.Is(err, ErrUnsupported) {
				t.Errorf("tried: %v, %v", l, err)
			}
			if text, _, err := Read(folder(dir), "a"); text != "" || err == nil {
				t.Errorf("read: %q, %v", text, err)
			}
			if text, err := os.ReadFile(dir + "/file"); string(text) != "another's" {
				t.Errorf("the other file: %q, %v", text, err)
			}
			if st, err := os.Stat(dir + "/file"); err != nil || st.Mode() != 0o640 {
				t.Errorf("the other file: %v, %v", st.Mode(), err)
			}
		})
	}
}

// A lock file of any size is locked, and at most maxText bytes of it are read.
func TestLargeLockFileIsReadInPart(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(fileIn(dir, "a"), []byte("someone"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(fileIn(dir, "a"), 8<<40); err != nil {
		t.Skip("no files of this size here: ", err)
	}
	text, changed, err := Read(folder(dir), "a")
	if len(text) != maxText || !strings.HasPrefix(text, "someone") || err != nil || time.Since(changed) > time.Minute {
		t.Errorf("%d bytes, written %v, %v", len(text), changed, err)
	}
	l, err := Try(folder(dir), "a", 0o600, func() string { return "mine" })
	if l == nil {
		t.Fatal(err)
	}
	defer l.Remove()
	if text, _, err := Read(folder(dir), "a"); text != "mine" || err != nil {
		t.Errorf("%.20q, %v", text, err)
	}
}
