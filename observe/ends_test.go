// Whoever is killed, nothing is left running.

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

//jitcache:control JO_CONTROL_KILL
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

// The child of a tracer waits until that says go.
func TestChildOfATracerThatIsKilledAtOnceEnds(t *testing.T) {
	first := func(run *Run, pid int) int {
		for pid != 0 && !run.Wait(0) { // all may have ended before anybody looks
			text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", pid))
			if words := strings.Fields(string(text)); len(words) > 0 {
				child, _ := strconv.Atoi(words[0])
				return child
			}
		}
		return 0
	}
	for seen := 0; seen < 10; {
		run, err := Start(&Command{Args: []string{"/bin/true"}, Dir: "/", Env: os.Environ(), Stdin: -1})
		if err != nil {
			t.Fatal(err)
		}
		tracer := first(run, int(run.spawn.keeper))
		child := first(run, tracer)
		if child != 0 {
			syscall.Kill(tracer, syscall.SIGKILL)
			seen++
		}
		run.Wait(time.Minute)
		run.Report()
		for end := time.Now().Add(10 * time.Second); len(called([]int{child}, "jitcache-observ")) > 0; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("a child waits for a tracer that was killed")
			}
		}
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

// daemon is what lives leaves behind (tests/observe/c/lives.c).
type daemon struct{ dir string }

func (d daemon) words(t *testing.T) []string {
	return []string{program(t, "lives", "lives"), put(t, d.dir+"/from", "x"), d.dir + "/to", d.dir + "/end"}
}

// works waits until the daemon has read and written five times more. So it still runs, and the
// tracer still lets its calls through.
func (d daemon) works(t *testing.T) {
	t.Helper()
	before, _ := os.ReadFile(d.dir + "/to")
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if text, _ := os.ReadFile(d.dir + "/to"); len(text) >= len(before)+5 {
			return
		}
		if time.Now().After(end) || len(marked(d.dir+"/to")) == 0 {
			t.Fatal("the daemon does not write any more")
		}
	}
}

// ends lets the daemon end, and waits for that and for its tracer's end.
func (d daemon) ends(t *testing.T) {
	t.Helper()
	put(t, d.dir+"/end", "")
	gone(t, d.dir+"/to")
}

//jitcache:control JO_CONTROL_GRACE
func TestDaemonLivesOnAndNobodyWaitsForIt(t *testing.T) {
	d := daemon{folder(t)}
	w := d.words(t)
	// The host ends before the daemon; its output is a pipe, which the daemon's tracer
	// must not hold.
	out, err := hostCommand("pass", "/bin/sh", "-c", fmt.Sprintf("echo begun; %s %s %s %s", w[0], w[1], w[2], w[3])).CombinedOutput()
	if err != nil || string(out) != "begun\n" {
		t.Fatalf("%v: %q", err, out)
	}
	d.works(t)
	d.ends(t)
	for _, tracer := range marked("jitcache-observe") {
		link, _ := os.Readlink("/proc/" + tracer + "/cwd")
		if strings.HasPrefix(link, d.dir) {
			t.Errorf("tracer %s is still there", tracer)
		}
	}
}

func TestReportOfADaemonSaysSo(t *testing.T) {
	modes(t, func(t *testing.T, stops bool) {
		d := daemon{folder(t)}
		c := Command{Args: d.words(t), Dir: d.dir, Env: os.Environ(), Stdin: -1, Stops: stops}
		if r := observeCommand(t, &c); !r.Outlived || r.Status != 0 {
			t.Errorf("outlived %v, %v", r.Outlived, r.Status)
		}
		d.works(t)
		d.ends(t)
	})
}

func TestWhatEndsSoonAfterTheCommandIsWaitedFor(t *testing.T) {
	r := observe(t, t.TempDir(), "/bin/sh", "-c", "(sleep 0.05; echo late) & exit 0")
	if r.Outlived || string(r.Out) != "late\n" {
		t.Errorf("outlived %v, %q", r.Outlived, r.Out)
	}
}

// The time that it is given is a minute here: on a busy machine half a second of work takes more
// than the second that it has otherwise.
func TestRestThatWorksIsWaitedFor(t *testing.T) {
	modes(t, func(t *testing.T, stops bool) {
		computes := "timeout 0.5 /bin/sh -c 'while :; do :; done'"
		asks := "i=0; while [ $i -lt 15 ]; do i=$((i + 1)); sleep 0.02; done"
		for _, work := range []string{computes, asks} {
			work = "(" + work + "; echo late) & exit 0"
			c := Command{
				Args: []string{"/bin/sh", "-c", work}, Dir: t.TempDir(), Env: os.Environ(), Stdin: -1, Stops: stops,
				patience: time.Minute,
			}
			if r := observeCommand(t, &c); r.Outlived || string(r.Out) != "late\n" {
				t.Errorf("%s: outlived %v, %q", work, r.Outlived, r.Out)
			}
		}
	})
}

//jitcache:control JO_CONTROL_WORKING
func TestRestThatWorksIsGivenASecond(t *testing.T) {
	modes(t, func(t *testing.T, stops bool) {
		mark := fmt.Sprintf("98765.%d", rand.Uint32())
		work := fmt.Sprintf("(while :; do : %s; done) & exit 0", mark)
		c := Command{Args: []string{"/bin/sh", "-c", work}, Dir: "/", Env: os.Environ(), Stdin: -1, Stops: stops}
		began := time.Now()
		if r := observeCommand(t, &c); !r.Outlived || time.Since(began) < restWorks {
			t.Errorf("outlived %v, after %v", r.Outlived, time.Since(began))
		}
		for _, pid := range marked(mark) {
			if id, err := strconv.Atoi(pid); err == nil {
				syscall.Kill(id, syscall.SIGKILL)
			}
		}
		gone(t, mark)
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

// statesOf returns the states of the processes of a host's command.
func statesOf(pid int, names ...string) string {
	states, all := "", below(pid)
	for _, name := range names {
		for _, id := range called(all, name) {
			text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", id))
			if err == nil {
				states += strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))[0]
			}
		}
	}
	return states
}

// until waits until a condition is true, for a minute.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not in a minute: %s", what)
		}
	}
}

func TestCtrlZStopsTheTreeAndFgContinuesIt(t *testing.T) {
	modes(t, func(t *testing.T, stops bool) {
		queue := folder(t) + "/queue"
		if err := syscall.Mkfifo(queue, 0o600); err != nil {
			t.Fatal(err)
		}
		host := hostCommand("interrupt", "/bin/sh", "-c", "echo runs; read line <"+queue+"; cat /dev/null; echo over")
		lines := group(t, host)
		// Its end is open for reading as well, so that nobody waits for the shell to open it.
		writer, err := os.OpenFile(queue, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer writer.Close()
		until(t, "the shell waits for a line", func() bool { return statesOf(host.Process.Pid, "sh") == "S" })
		syscall.Kill(-host.Process.Pid, syscall.SIGTSTP)
		until(t, "the shell is stopped", func() bool { return strings.Trim(statesOf(host.Process.Pid, "sh"), "Tt") == "" })
		writer.WriteString("line\n")
		if states := statesOf(host.Process.Pid, "sh", "cat"); strings.Trim(states, "Tt") != "" || states == "" {
			t.Errorf("stopped, but %q", states)
		}
		syscall.Kill(-host.Process.Pid, syscall.SIGCONT)
		over, _ := lines.ReadString('\n')
		line, _ := lines.ReadString('\n')
		if over != "over\n" || !strings.HasPrefix(line, "false ") {
			t.Errorf("%q %q", over, line)
		}
		host.Wait()
	})
}
