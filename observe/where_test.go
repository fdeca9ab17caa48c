// Hosts under strace, under gdb, in an observed tree, and where something is forbidden.

package observe

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// Where a host can be: under a debugger, in a container that forbids things, in a tree that
// is itself observed, as process 1.

// works runs a command that reads a file in a host, and holds what comes of it against a
// plain run.
func works(t *testing.T, host *exec.Cmd, byFiles, unobserved bool) *Report {
	t.Helper()
	dir := folder(t)
	put(t, dir+"/f", "content")
	c := Command{Args: []string{"/bin/sh", "-c", "cat f; echo x >&2; [ -e none ] || exit 5"}, Dir: dir}
	r := observeBy(t, host, c, byFiles)
	if r.Status.ExitStatus() != 5 || string(r.Out) != "content" || string(r.Err) != "x\n" || r.Unobserved != unobserved {
		t.Errorf("%v, %q, %q, unobserved %v", r.Status, r.Out, r.Err, r.Unobserved)
	}
	if !unobserved {
		r.expect(t, dir, map[string]string{"f": "r", "none": "absent"})
	}
	return r
}

func TestHostUnderStraceRunsItsCommandPlain(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("no strace")
	}
	works(t, behind(hostCommand("tell"), strace, "-f", "-o", "/dev/null"), false, true)
}

func TestHostUnderGdbIsAHostLikeAnother(t *testing.T) {
	gdb, err := exec.LookPath("gdb")
	if err != nil {
		t.Skip("no gdb")
	}
	// What is behind --args goes through a shell's hands; so the host talks by files. gdb
	// follows a parent, and lets go of its children.
	host := behind(hostCommand("tell"), gdb, "-q", "-batch", "-nx", "-ex", "handle all nostop noprint pass", "-ex", "run", "--args")
	works(t, host, true, false)
}

func TestHostInAnObservedTreeRunsItsCommandPlain(t *testing.T) {
	outer := hostCommand("pass", "/bin/cat", "f")
	modes(t, func(t *testing.T, stops bool) {
		dir := folder(t)
		put(t, dir+"/f", "content")
		r := observeCommand(t, &Command{Args: outer.Args, Dir: dir, Env: outer.Env, Stdin: -1, Stops: stops})
		if string(r.Out) != "content" || r.Status != 0 || r.Unobserved {
			t.Fatalf("%q, %v, %s", r.Out, r.Status, r.Err)
		}
		r.expect(t, dir, map[string]string{"f": "r"})
		// Go's runtime looks for the limits of its container when it starts, by what is mounted.
		r.Uses = slices.DeleteFunc(r.Uses, func(u Used) bool { return u.Use == UseMounts })
		r.uses(t)
	})
}

//jitcache:control JO_CONTROL_ONCE
func TestWhereSomethingIsForbiddenTheCommandWorks(t *testing.T) {
	refuse := program(t, "refuse", "refuse")
	for what, unobserved := range map[string]bool{
		"ptrace": true, "seccomp": true, "pidfd-getfd": false, "pidfd-open": false, "syscall-info": false, "statx": false,
		"close-range": false, "ptrace seccomp pidfd-open close-range statx": true,
	} {
		t.Run(what, func(t *testing.T) {
			words := append(append([]string{refuse}, strings.Fields(what)...), "--")
			works(t, behind(hostCommand("tell"), words...), false, unobserved)
		})
	}
}

func TestWhereThereIsNoProcTheCommandWorks(t *testing.T) {
	asRoot(t)
	host := behind(hostCommand("tell"), "/usr/bin/unshare", "-m", "/bin/sh", "-c", `mount -t tmpfs none /proc && exec "$@"`, "sh")
	dir := folder(t)
	put(t, dir+"/f", "content")
	r := observeBy(t, host, Command{Args: []string{"/bin/cat", "f"}, Dir: dir}, false)
	if string(r.Out) != "content" || r.Status != 0 || !r.Unobserved && !r.used(UseUnreadable) {
		t.Errorf("%q, %v, unobserved %v, %+v", r.Out, r.Status, r.Unobserved, r.Uses)
	}
}

func TestHostThatIsProcess1(t *testing.T) {
	asRoot(t)
	works(t, behind(hostCommand("tell"), "/usr/bin/unshare", "-pf", "--mount-proc"), false, false)
}

func TestHostWithoutStandardDescriptors(t *testing.T) {
	for _, closed := range []string{"0<&-", "1>&-", "2>&-", "0<&- 1>&- 2>&-"} {
		works(t, behind(hostCommand("tell"), "/bin/sh", "-c", `exec "$@" `+closed, "sh"), true, false)
	}
}

func TestHostOfAnotherUser(t *testing.T) {
	asRoot(t)
	host := hostCommand("tell")
	host.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 1000, Gid: 1000}}
	works(t, host, false, false)
}

func TestHostThatWaitsForAllItsChildrenSeesOnlyItsOwn(t *testing.T) {
	if out, err := hostCommand("reap", "/bin/sh", "-c", "(sleep 0.02); exit 3").CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

func TestHostIsNotSignalled(t *testing.T) {
	for _, how := range []string{"ignore", "handle"} {
		out, err := hostCommand("signals", how, "/bin/grep", "SigIgn", "/proc/self/status").CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v: %s", how, err, out)
			continue
		}
		// SIGCHLD is 17: what the host ignores, the command does only if it inherits.
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		if len(lines) != 2 || bit(t, lines[0], 17) || bit(t, lines[1], 17) != (how == "ignore") {
			t.Errorf("%s: %q", how, lines)
		}
	}
}

func TestManyAtOnce(t *testing.T) {
	dir := folder(t)
	put(t, dir+"/f", "content")
	descriptors := func() int {
		d, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(d)
	}
	before := descriptors()
	for range 4 {
		var group sync.WaitGroup
		for i := range 16 {
			group.Go(func() {
				c := Command{Args: []string{"/bin/sh", "-c", "cat f; [ -e none ]; (cat f)"}, Dir: dir, Env: os.Environ(), Stdin: -1, Stops: i%2 == 0}
				r := observeCommand(t, &c)
				if string(r.Out) != "contentcontent" || r.Unobserved || r.named(dir+"/none") == nil {
					t.Errorf("%q, unobserved %v", r.Out, r.Unobserved)
				}
			})
		}
		group.Wait()
	}
	if after := descriptors(); after > before {
		t.Errorf("%d descriptors, and %d before", after, before)
	}
}
