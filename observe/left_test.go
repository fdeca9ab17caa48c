// A cancelled command leaves process 1 nobody to wait for.

package observe

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// What is left to process 1, which in a container often waits for nobody.

func init() { hosts["subreaper"], hosts["rounds"] = subreaper, rounds }

// subreaper is a host in the place of process 1: it gets the children of processes that end.
// It starts a command and cancels it, and prints which processes it would have to wait for.
func subreaper(args []string) int {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return complain(err)
	}
	run, err := Start(&Command{Args: args, Dir: "/", Env: os.Environ(), Stdin: -1})
	if err != nil {
		return complain(err)
	}
	run.Wait(200 * time.Millisecond)
	run.Cancel()
	time.Sleep(50 * time.Millisecond)
	all, _ := os.ReadDir("/proc")
	for _, p := range all {
		text, _ := os.ReadFile("/proc/" + p.Name() + "/stat")
		name, rest, _ := strings.Cut(string(text), ")")
		if words := strings.Fields(rest); len(words) > 1 && words[1] == fmt.Sprint(os.Getpid()) {
			fmt.Println(name, words[0])
		}
	}
	return 0
}

//jitcache:control noorderlyend
func TestCancelledCommandLeavesProcess1NobodyToWaitFor(t *testing.T) {
	for tracer, words := range map[string]string{Tracer: "sleep 100 & sleep 100 & wait", "": "exec sleep 100"} {
		host := hostCommand("subreaper", "/bin/sh", "-c", words)
		host.Env = append(host.Env, tracerVariable+"="+tracer)
		if said, err := host.CombinedOutput(); err != nil || len(said) > 0 {
			t.Errorf("%q: %v: %s", words, err, said)
		}
	}
}

// rounds is a host that ends while a command waits for work, for which %d stands in its words.
func rounds(args []string) int {
	var pipe [2]int
	if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC); err != nil {
		return complain(err)
	}
	words := strings.ReplaceAll(args[0], "%d", fmt.Sprint(pipe[0]))
	run, err := Start(&Command{Args: []string{"/bin/sh", "-c", words}, Dir: "/", Env: os.Environ(), Stdin: -1, Channel: pipe[0]})
	if err != nil {
		return complain(err)
	}
	run.Wait(300 * time.Millisecond)
	return 0
}

//jitcache:control JO_CONTROL_LEAVING
func TestCommandInRoundsMayEndByItselfWhenItsHostDies(t *testing.T) {
	file := filepath.Join(t.TempDir(), "over")
	if said, err := hostCommand("rounds", "cat /dev/fd/%d; sleep 0.1; echo over >"+file).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	for end := time.Now().Add(3 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if text, _ := os.ReadFile(file); string(text) == "over\n" {
			return
		}
	}
	t.Error("it was ended before")
}

func TestCommandInRoundsThatDoesNotEndByItselfIsEnded(t *testing.T) {
	mark := fmt.Sprintf("9876.%d", os.Getpid())
	if said, err := hostCommand("rounds", "sleep "+mark).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	gone(t, mark)
}
