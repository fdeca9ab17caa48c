package observe

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// How it can end: by a kill of anybody at any moment, by Cancel, by Ctrl-C, or not at all.

// endless is a tree that never ends, with a mark in each of its processes.
func endless(t *testing.T) (mark string, args []string) {
	t.Helper()
	mark = fmt.Sprintf("98765.%d", rand.Uint32())
	script := fmt.Sprintf("sleep %s & (sleep %s; true) & while :; do cat /dev/null; [ -e /none ]; : %s; done", mark, mark, mark)
	return mark, []string{"/bin/sh", "-c", script}
}

func TestCancelEndsAllThatWasStarted(t *testing.T) {
	for i := range 20 {
		mark, args := endless(t)
		run, err := Start(&Command{Args: args, Dir: "/", Env: os.Environ(), Stdin: -1, Plain: i%4 == 3, Stops: i%4 == 2})
		if err != nil {
			t.Fatal(err)
		}
		run.Wait(time.Duration(rand.IntN(20)) * time.Millisecond)
		run.Cancel()
		if i%4 != 3 && len(marked(mark)) != 0 {
			t.Errorf("still there: %v", marked(mark))
		}
		gone(t, mark)
		run.Cancel()
		if _, err := run.Report(); err == nil {
			t.Error("a report of a run that was cancelled")
		}
	}
}

func TestHostThatIsKilledLeavesNothingRunning(t *testing.T) {
	for i := range 20 {
		mark, args := endless(t)
		if i%4 == 3 {
			args = append([]string{"plain"}, args...)
		}
		host := hostCommand("hold", args...)
		if err := host.Start(); err != nil {
			t.Fatal(err)
		}
		// Its start takes as long again.
		time.Sleep(time.Duration(rand.IntN(40)) * time.Millisecond)
		host.Process.Kill()
		host.Wait()
		gone(t, mark)
	}
}

// A process may call itself whatever it likes, and whom it is below is told behind its name.
func TestNameOfAProcessDoesNotHideWhatIsBelowIt(t *testing.T) {
	for _, name := range []string{"plain", "x) S 1", "x\\n", "x) S 1\\n", "))))) 1 1 1\\n1 1"} {
		mark, args := endless(t)
		script := fmt.Sprintf("printf '%s' > /proc/$$/comm; (sleep %s; true) & sleep %s", name, mark, mark)
		host := hostCommand("hold", "plain", args[0], "-c", script)
		if err := host.Start(); err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(30 * time.Second); len(marked(mark)) < 3 && time.Now().Before(end); {
			time.Sleep(time.Millisecond)
		}
		host.Process.Kill()
		host.Wait()
		gone(t, mark)
	}
}

// below returns the processes below one: its children, and theirs.
func below(pid int) []int {
	dirs, _ := filepath.Glob("/proc/[0-9]*/stat")
	children := map[int][]int{}
	for _, path := range dirs {
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		rest := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		id, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		parent, _ := strconv.Atoi(rest[1])
		children[parent] = append(children[parent], id)
	}
	all := children[pid]
	for i := 0; i < len(all); i++ {
		all = append(all, children[all[i]]...)
	}
	return all
}

// named returns those whose command is called so.
func called(pids []int, name string) (found []int) {
	for _, pid := range pids {
		if text, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid)); err == nil && strings.TrimSpace(string(text)) == name {
			found = append(found, pid)
		}
	}
	return found
}

func TestTracerOrKeeperThatIsKilledTakesTheTreeAlong(t *testing.T) {
	for i := range 20 {
		mark, args := endless(t)
		run, err := Start(&Command{Args: args, Dir: "/", Env: os.Environ(), Stdin: -1, Stops: i%2 == 0})
		if err != nil {
			t.Fatal(err)
		}
		run.Wait(time.Duration(rand.IntN(20)) * time.Millisecond)
		victim := int(run.spawn.keeper)
		if i%4 < 2 {
			tracers := called(below(victim), "jitcache-observ")
			if len(tracers) == 0 {
				t.Fatal("no tracer")
			}
			victim = tracers[0]
		}
		syscall.Kill(victim, syscall.SIGKILL)
		if !run.Wait(time.Minute) {
			t.Fatal("hangs")
		}
		if _, err := run.Report(); err == nil {
			t.Error("no error")
		}
		gone(t, mark)
	}
}

func TestKeeperIsNotNeededToNoticeTheEnd(t *testing.T) {
	run, err := Start(&Command{Args: []string{"/bin/sleep", "100"}, Dir: "/", Env: os.Environ(), Stdin: -1})
	if err != nil {
		t.Fatal(err)
	}
	// Somebody has forked, and holds the pipe open.
	held, err := syscall.Dup(run.done)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(held)
	syscall.Kill(int(run.spawn.keeper), syscall.SIGKILL)
	if !run.Wait(time.Minute) {
		t.Error("hangs")
	}
	run.Report()
}

// ---- what goes on

func TestDaemonLivesOnAndNobodyWaitsForIt(t *testing.T) {
	lives := program(t, "lives", "lives")
	dir := folder(t)
	from, to := put(t, dir+"/from", "x"), dir+"/to"
	began := time.Now()
	// The host ends before the daemon; its output is a pipe, which the daemon's tracer
	// must not hold.
	out, err := hostCommand("pass", "/bin/sh", "-c", fmt.Sprintf("echo begun; %s %s %s 3", lives, from, to)).CombinedOutput()
	if err != nil || string(out) != "begun\n" {
		t.Fatalf("%v: %q", err, out)
	}
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("took %v", took)
	}
	time.Sleep(time.Until(began.Add(4500 * time.Millisecond)))
	if text, _ := os.ReadFile(to); len(text) != 30 {
		t.Errorf("the daemon wrote %d times, want 30", len(text))
	}
	gone(t, to)
	for _, tracer := range marked("jitcache-observe") {
		link, _ := os.Readlink("/proc/" + tracer + "/cwd")
		if strings.HasPrefix(link, dir) {
			t.Errorf("tracer %s is still there", tracer)
		}
	}
}

func TestReportOfADaemonSaysSo(t *testing.T) {
	lives := program(t, "lives", "lives")
	modes(t, func(t *testing.T, stops bool) {
		dir := folder(t)
		put(t, dir+"/from", "x")
		began := time.Now()
		c := Command{Args: []string{lives, "from", "to", "2"}, Dir: dir, Env: os.Environ(), Stdin: -1, Stops: stops}
		r := observeCommand(t, &c)
		if took := time.Since(began); !r.Outlived || r.Status != 0 || took > 1500*time.Millisecond {
			t.Errorf("outlived %v, %v, after %v", r.Outlived, r.Status, took)
		}
		gone(t, lives)
		if text, _ := os.ReadFile(dir + "/to"); len(text) != 20 {
			t.Errorf("the daemon wrote %d times, want 20", len(text))
		}
	})
}

func TestWhatEndsSoonAfterTheCommandIsWaitedFor(t *testing.T) {
	r := observe(t, t.TempDir(), "/bin/sh", "-c", "(sleep 0.05; echo late) & exit 0")
	if r.Outlived || string(r.Out) != "late\n" {
		t.Errorf("outlived %v, %q", r.Outlived, r.Out)
	}
}

func TestRestThatWorksIsGivenASecond(t *testing.T) {
	modes(t, func(t *testing.T, stops bool) {
		// On a busy machine half a second of the clock may be little of a processor's time.
		computes := "timeout 0.5 /bin/sh -c 'while :; do :; done'"
		asks := "i=0; while [ $i -lt 15 ]; do i=$((i + 1)); sleep 0.02; done"
		for _, work := range []string{computes, asks} {
			work = "(" + work + "; echo late) & exit 0"
			c := Command{Args: []string{"/bin/sh", "-c", work}, Dir: t.TempDir(), Env: os.Environ(), Stdin: -1, Stops: stops}
			if r := observeCommand(t, &c); r.Outlived || string(r.Out) != "late\n" {
				t.Errorf("%s: outlived %v, %q", work, r.Outlived, r.Out)
			}
		}
	})
}

// ---- at a terminal

// group starts a launcher in a process group of its own, and waits until it says that its
// command runs.
func group(t *testing.T, host *exec.Cmd) *bufio.Reader {
	t.Helper()
	out, err := host.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	host.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	for range 2 {
		if line, err := lines.ReadString('\n'); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
	}
	return lines
}

func TestCtrlCEndsTheCommandAndIsReported(t *testing.T) {
	host := hostCommand("interrupt", "/bin/sh", "-c", "echo runs; sleep 100; echo not reached")
	lines := group(t, host)
	syscall.Kill(-host.Process.Pid, syscall.SIGINT)
	line, _ := lines.ReadString('\n')
	if line != "true interrupt 1\n" {
		t.Errorf("%q", line)
	}
	host.Wait()
}

// stateOf returns the states of a host and of all below it, but its keeper, in which
// nothing can be stopped by a key.
func statesOf(pid int) string {
	states := ""
	for _, id := range append(called(below(pid), "sleep"), called(below(pid), "sh")...) {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", id))
		if err == nil {
			states += strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))[0]
		}
	}
	return states
}

func TestCtrlZStopsTheTreeAndFgContinuesIt(t *testing.T) {
	modes(t, func(t *testing.T, stops bool) {
		host := hostCommand("interrupt", "/bin/sh", "-c", "echo runs; sleep 0.5; cat /dev/null; echo over")
		lines := group(t, host)
		time.Sleep(50 * time.Millisecond)
		syscall.Kill(-host.Process.Pid, syscall.SIGTSTP)
		time.Sleep(200 * time.Millisecond)
		if states := statesOf(host.Process.Pid); strings.Trim(states, "Tt") != "" || states == "" {
			t.Errorf("stopped, but %q", states)
		}
		time.Sleep(600 * time.Millisecond) // longer than it has to do
		syscall.Kill(-host.Process.Pid, syscall.SIGCONT)
		over, _ := lines.ReadString('\n')
		line, _ := lines.ReadString('\n')
		if over != "over\n" || !strings.HasPrefix(line, "false ") {
			t.Errorf("%q %q", over, line)
		}
		host.Wait()
	})
}
