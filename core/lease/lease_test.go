// One of many threads and processes compiles, whatever becomes of it.

package lease

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"jitcache/core/key"
	"jitcache/core/lockfile"
)

// folder makes lock files in a folder.
type folder string

func (f folder) open() (int, error) {
	return syscall.Open(string(f), syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
}

func (f folder) TryLock(name string, sign func() string) (*lockfile.Lock, error) {
	return lockfile.Try(f.open, name, 0o600, sign)
}

func (f folder) ReadLock(name string) (string, time.Time, error) { return lockfile.Read(f.open, name) }

// broken is a folder where locks do not work.
type broken struct{ folder }

func (broken) TryLock(string, func() string) (*lockfile.Lock, error) {
	return nil, lockfile.ErrUnsupported
}

// compileOnce is what a caller does: look, lease, compile. The entry is a file
// of the folder; each compile appends a line to the witness.
func compileOnce(t *Table, dir string, id key.ID, took time.Duration) error {
	entry := filepath.Join(dir, id.String()+".entry")
	found := func() bool {
		_, err := os.Stat(entry)
		return err == nil
	}
	for !found() {
		l, outcome := t.Acquire(id, "test", time.Now().Add(100*time.Millisecond), found)
		if outcome != Granted {
			continue
		}
		w, err := os.OpenFile(filepath.Join(dir, "witness"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s %d\n", id, os.Getpid())
		w.Close()
		time.Sleep(took)
		if err := os.WriteFile(entry+fmt.Sprint(os.Getpid()), []byte("x"), 0o600); err != nil {
			return err
		}
		if err := os.Rename(entry+fmt.Sprint(os.Getpid()), entry); err != nil {
			return err
		}
		l.Release()
	}
	return nil
}

func compiles(t *testing.T, dir string) int {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "witness"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return strings.Count(string(b), "\n")
}

// TestMain lets the test binary be one of many processes: it waits for a line,
// then has several threads ask for several keys, or holds one lease for ever.
func TestMain(m *testing.M) {
	dir := os.Getenv("LEASE_TEST_DIR")
	if dir == "" {
		os.Exit(m.Run())
	}
	table := &Table{Locks: folder(dir)}
	if os.Getenv("LEASE_TEST_HOLD") != "" {
		_, outcome := table.Acquire(testID(0), "held", time.Now().Add(time.Second), func() bool { return false })
		fmt.Println("outcome", outcome)
		select {}
	}
	bufio.NewReader(os.Stdin).ReadString('\n')
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for n := range 5 {
				if err := compileOnce(table, dir, testID(n), 30*time.Millisecond); err != nil {
					fmt.Fprintln(os.Stderr, err)
					os.Exit(1)
				}
			}
		})
	}
	wg.Wait()
	os.Exit(0)
}

func testID(n int) key.ID { return key.ID(key.Sum([]byte{byte(n)})) }

func process(t *testing.T, dir string, env ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(append(os.Environ(), "LEASE_TEST_DIR="+dir), env...)
	cmd.Stderr = os.Stderr
	return cmd
}

//jitcache:control nolease
func TestOneOfManyThreadsCompiles(t *testing.T) {
	dir := t.TempDir()
	table := &Table{Locks: folder(dir)}
	var wg sync.WaitGroup
	for range 32 {
		wg.Go(func() {
			for n := range 3 {
				if err := compileOnce(table, dir, testID(n), 20*time.Millisecond); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if n := compiles(t, dir); n != 3 {
		t.Errorf("%d compiles of 3 keys", n)
	}
	left, _ := filepath.Glob(filepath.Join(dir, "*"+lockfile.Suffix))
	if len(left) != 0 || len(table.inflight) != 0 || len(table.watched) != 0 {
		t.Errorf("left behind: %v, %d inflight, %d watched", left, len(table.inflight), len(table.watched))
	}
}

//jitcache:control nolease
func TestOneOfManyProcessesCompiles(t *testing.T) {
	dir := t.TempDir()
	var cmds []*exec.Cmd
	var starts []func()
	for range 8 {
		cmd := process(t, dir)
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		cmds, starts = append(cmds, cmd), append(starts, func() { in.Write([]byte("go\n")) })
	}
	for _, start := range starts {
		start()
	}
	for _, cmd := range cmds {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	if n := compiles(t, dir); n != 5 {
		t.Errorf("%d compiles of 5 keys", n)
	}
}

// holder starts a process that holds the lease on testID(0) for ever.
func holder(t *testing.T, dir string) *os.Process {
	t.Helper()
	cmd := process(t, dir, "LEASE_TEST_HOLD=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	if line, _ := bufio.NewReader(out).ReadString('\n'); line != "outcome 0\n" {
		t.Fatalf("the holder says %q", line)
	}
	return cmd.Process
}

func TestLeaseOfAKilledProcessIsFreeAtOnce(t *testing.T) {
	dir := t.TempDir()
	p := holder(t, dir)
	table := &Table{Locks: folder(dir)}
	if _, outcome := table.Acquire(testID(0), "", time.Now().Add(50*time.Millisecond), never); outcome != Busy {
		t.Fatalf("held elsewhere, but outcome %d", outcome)
	}
	p.Kill()
	start := time.Now()
	l, outcome := table.Acquire(testID(0), "", start.Add(time.Minute), never)
	if outcome != Granted {
		t.Fatalf("outcome %d after %v", outcome, time.Since(start))
	}
	l.Release()
}

// standing is a clock that stands until a test moves it.
type standing struct{ at atomic.Int64 }

func standingClock() *standing {
	c := new(standing)
	c.at.Store(time.Now().UnixNano())
	return c
}

func (c *standing) now() time.Time       { return time.Unix(0, c.at.Load()) }
func (c *standing) move(d time.Duration) { c.at.Add(int64(d)) }

func never() bool { return false }

// waits checks that the lease on testID(0) is waited for, however often somebody looks.
func waits(t *testing.T, table *Table) {
	t.Helper()
	for range 3 {
		l, outcome := table.Acquire(testID(0), "", time.Now().Add(5*time.Millisecond), never)
		if l.Release(); outcome != Busy {
			t.Fatalf("held elsewhere, but outcome %d", outcome)
		}
	}
}

// goesOn checks that the lease on testID(0) is given, although it is held elsewhere.
func goesOn(t *testing.T, table *Table) {
	t.Helper()
	l, outcome := table.Acquire(testID(0), "", time.Now().Add(10*time.Second), never)
	if l.Release(); outcome != Granted {
		t.Fatalf("still waiting: outcome %d", outcome)
	}
}

func TestStoppedHolderIsGivenUpOnByOneAtATime(t *testing.T) {
	dir, clock := t.TempDir(), standingClock()
	p := holder(t, dir)
	if err := p.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	table := &Table{Locks: folder(dir), clock: clock.now}
	waits(t, table)
	clock.move(LostLimit)
	waits(t, table)
	clock.move(time.Nanosecond)
	var at atomic.Int64 // how many compile at the same time
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for {
				l, outcome := table.Acquire(testID(0), "", time.Now().Add(20*time.Millisecond), never)
				switch outcome {
				case Busy: // each of them waits anew for the holder
					clock.move(LostLimit + time.Nanosecond)
				case Granted:
					if at.Add(1) > 1 {
						t.Error("two compile at once")
					}
					time.Sleep(5 * time.Millisecond)
					at.Add(-1)
					l.Release()
					return
				}
			}
		})
	}
	wg.Wait()
}

func TestLockThatNobodySignedIsGivenUpOn(t *testing.T) {
	for name, text := range map[string]string{"empty": "", "torn": "12345678-4026"} {
		t.Run(name, func(t *testing.T) {
			dir, clock := folder(t.TempDir()), standingClock()
			lock, err := dir.TryLock(slot{testID(0), 0}.lockName(), func() string { return text })
			if err != nil {
				t.Fatal(err)
			}
			defer lock.Remove()
			table := &Table{Locks: dir, clock: clock.now}
			table.Waiting = func(key.ID, Holder, time.Duration) { t.Error("told of a holder without a name") }
			waits(t, table)
			clock.move(LostLimit)
			waits(t, table)
			clock.move(time.Nanosecond)
			goesOn(t, table)
		})
	}
}

// aMoment is how much older than its first look a holder's file may be, with the clock of a
// file system.
const aMoment = time.Minute

func TestHolderThatTakesTooLongIsNotWaitedFor(t *testing.T) {
	for name, other := range map[string]func(slow *Table) *Table{
		"in this process": func(slow *Table) *Table { return slow },
		"in another":      func(slow *Table) *Table { return &Table{Locks: slow.Locks, clock: slow.clock} },
	} {
		t.Run(name, func(t *testing.T) {
			clock := standingClock()
			slow := &Table{Locks: folder(t.TempDir()), clock: clock.now}
			l, _ := slow.Acquire(testID(0), "slow", time.Now(), never)
			defer l.Release()
			table := other(slow)
			waits(t, table)
			clock.move(HolderLimit - aMoment)
			waits(t, table)
			clock.move(aMoment + time.Nanosecond)
			goesOn(t, table)
		})
	}
}

// counted counts the tries of a lock that somebody else has.
type counted struct {
	folder
	tries *int
}

func (c counted) TryLock(name string, sign func() string) (*lockfile.Lock, error) {
	*c.tries++
	return c.folder.TryLock(name, sign)
}

// A call waits for 100 ms. A compile of a moment is noticed within 25 of them, one of seconds within a part of these.
//
//jitcache:control busywaits
func TestWhoHasWaitedLongTriesTheLockSeldom(t *testing.T) {
	dir, clock, tries := folder(t.TempDir()), standingClock(), 0
	holder := &Table{Locks: dir, clock: clock.now}
	l, _ := holder.Acquire(testID(0), "slow", time.Now(), never)
	defer l.Release()
	table := &Table{Locks: counted{dir, &tries}, clock: clock.now}
	of := func() int {
		before := tries
		if _, outcome := table.Acquire(testID(0), "", time.Now().Add(100*time.Millisecond), never); outcome != Busy {
			t.Fatal(outcome)
		}
		return tries - before
	}
	if n := of(); n < 5 {
		t.Errorf("%d tries in the first 100 ms", n)
	}
	clock.move(LostLimit / 2)
	if n := of(); n > 2 {
		t.Errorf("%d tries in 100 ms after five seconds", n)
	}
}

func TestWithoutLockFilesThreadsStillTakeTurns(t *testing.T) {
	dir := t.TempDir()
	said := 0
	table := &Table{Locks: broken{folder(dir)}, Unsupported: func(error) { said++ }}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if err := compileOnce(table, dir, testID(0), 20*time.Millisecond); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := compiles(t, dir); n != 1 || said == 0 {
		t.Errorf("%d compiles, said so %d times", n, said)
	}
}

func TestReleaseTwiceIsFine(t *testing.T) {
	table := &Table{Locks: folder(t.TempDir())}
	l, _ := table.Acquire(testID(0), "", time.Now(), func() bool { return false })
	l.Release()
	l.Release()
	(*Lease)(nil).Release()
}

func TestHolderComesBackFromItsFile(t *testing.T) {
	dir := folder(t.TempDir())
	table := &Table{Locks: dir}
	l, _ := table.Acquire(testID(0), "a name with blanks", time.Now(), func() bool { return false })
	defer l.Release()
	text, _, err := dir.ReadLock(testID(0).String())
	if err != nil {
		t.Fatal(err)
	}
	h, err := ParseHolder(text)
	if err != nil || h.Owner != lockfile.Self() || h.Name != "a name with blanks" || time.Since(h.Since) > time.Minute {
		t.Errorf("%+v, %v", h, err)
	}
	for _, bad := range []string{"", "x", "a-1-2-3", "a-1-2-3 x name"} {
		if _, err := ParseHolder(bad); err == nil {
			t.Errorf("%q is a holder", bad)
		}
	}
}

// Anybody may have written the time in a lock file: a holder that began ten years ago, or in
// the future, is waited for like any other.
//
//jitcache:control anyclock
func TestAgeOfAHolderIsNotWhatItsFileSays(t *testing.T) {
	for name, since := range map[string]time.Time{
		"long ago": time.Unix(1, 0), "to come": time.Now().Add(24 * time.Hour),
	} {
		t.Run(name, func(t *testing.T) {
			dir := folder(t.TempDir())
			lock, err := dir.TryLock(testID(0).String(), Holder{lockfile.Self(), since, "x"}.String)
			if err != nil {
				t.Fatal(err)
			}
			defer lock.Remove()
			old := time.Now().Add(-24 * time.Hour)
			if err := os.Chtimes(filepath.Join(string(dir), testID(0).String()+lockfile.Suffix), old, old); err != nil {
				t.Fatal(err)
			}
			clock := standingClock()
			table := &Table{Locks: dir, clock: clock.now}
			waits(t, table)
			clock.move(HolderLimit - aMoment)
			waits(t, table)
			clock.move(aMoment + time.Nanosecond)
			goesOn(t, table)
		})
	}
}

// Callers that come late do not wait for a holder that has outlived its limit either.
func TestWhoComesLateWaitsForTheRestOfTheTime(t *testing.T) {
	dir, clock := folder(t.TempDir()), standingClock()
	l, _ := (&Table{Locks: dir}).Acquire(testID(0), "", time.Now(), never)
	defer l.Release()
	clock.move(HolderLimit - aMoment)
	waits(t, &Table{Locks: dir, clock: clock.now})
	clock.move(2 * aMoment)
	goesOn(t, &Table{Locks: dir, clock: clock.now})
}

func FuzzParseHolder(f *testing.F) {
	f.Add("12345678-4026531836-1-2 3 name\n")
	f.Fuzz(func(t *testing.T, text string) {
		if h, err := ParseHolder(text); err == nil && h.Pid <= 0 {
			t.Errorf("process %d", h.Pid)
		}
	})
}

func BenchmarkUncontended(b *testing.B) {
	table := &Table{Locks: folder(b.TempDir())}
	for b.Loop() {
		l, _ := table.Acquire(testID(0), "", time.Now(), func() bool { return false })
		l.Release()
	}
}
