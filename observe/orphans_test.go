// Processes that are killed while they fork.

package observe

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// What a process leaves behind that is killed while it forks: its tracer is told of no child.

func TestProcessesThatAreKilledAsTheyForkLeaveNothingRunning(t *testing.T) {
	path := program(t, "orphans", "orphans")
	modes(t, func(t *testing.T, stops bool) {
		mark := fmt.Sprintf("98765.%d", rand.Uint32())
		c := Command{Args: []string{path, "killed_as_they_fork", mark}, Dir: folder(t), Env: os.Environ(), Stdin: -1, Stops: stops}
		if r := observeCommand(t, &c); r.Status != 0 || r.Unobserved {
			t.Errorf("%v: %s, unobserved %v", r.Status, r.Err, r.Unobserved)
		}
		gone(t, mark)
	})
}

// state waits until a process is in one of some states, as /proc has them.
func state(t *testing.T, pid int, states string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			t.Fatal(err)
		}
		rest := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		if strings.Contains(states, rest[0]) {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%d is %s, and not %s", pid, rest[0], states)
		}
	}
}

// The tracer is stopped while it happens: so it hears of the end first, whoever is how fast.
//
//jitcache:control JO_CONTROL_ORPHANS
func TestChildWhoseParentIsKilledAsItForksGoesOnAndIsNotKept(t *testing.T) {
	path := program(t, "orphans", "orphans")
	for _, scene := range []string{"left_to_init", "left_to_the_tree"} {
		modes(t, func(t *testing.T, stops bool) {
			dir, mark := folder(t), fmt.Sprintf("98765.%d", rand.Uint32())
			little(dir)
			c := Command{Args: []string{path, scene, mark}, Dir: dir, Env: os.Environ(), Stdin: -1, Stops: stops}
			run, err := Start(&c)
			if err != nil {
				t.Fatal(err)
			}
			defer gone(t, mark)
			defer run.Cancel()
			kill(t, run, dir)
			if !run.Wait(30 * time.Second) {
				t.Fatal("the child hangs")
			}
			r, err := run.Report()
			if err != nil || r.Status != 0 || r.Unobserved {
				t.Fatalf("%v, %+v", err, r)
			}
			r.uses(t, UseUnreadable)
		})
		if t.Failed() {
			return // a control waits long enough for one
		}
	}
}

// kill kills a process of a run while it forks: the one that says so in a folder.
func kill(t *testing.T, run *Run, dir string) {
	t.Helper()
	said := make(chan bool)
	when(t, dir+"/forks", func() { close(said) })
	select {
	case <-said:
	case <-time.After(time.Minute):
		t.Fatal("there is nobody who forks")
	}
	text, err := os.ReadFile(dir + "/forks")
	tracers := called(below(int(run.spawn.keeper)), "jitcache-observ")
	if err != nil || len(tracers) != 1 {
		t.Fatalf("%v, tracers %v", err, tracers)
	}
	victim, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	state(t, victim, "S")
	syscall.Kill(tracers[0], syscall.SIGSTOP)
	defer syscall.Kill(tracers[0], syscall.SIGCONT)
	state(t, tracers[0], "T")
	syscall.Kill(victim, syscall.SIGUSR1)
	state(t, victim, "t")
	syscall.Kill(victim, syscall.SIGKILL)
	state(t, victim, "Z")
}
