// Limits and umask count for who asks for them.

package record

import (
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"
)

// Whoever asks for a limit may compile with it, even if it follows from the machine. bash
// asks how many processes it may have each time that it starts, and tells nobody until it is
// asked itself.
//
//jitcache:control nolimits files memory all
func TestLimitsThatAreAskedForCount(t *testing.T) {
	for name, c := range map[string]struct {
		limit  int
		script []string
		counts bool
	}{
		"files":              {unix.RLIMIT_NOFILE, []string{"/bin/sh", "-c", "ulimit -n"}, true},
		"files, not asked":   {unix.RLIMIT_NOFILE, []string{"/bin/sh", "-c", ":"}, false},
		"memory":             {unix.RLIMIT_RSS, []string{"/bin/sh", "-c", "ulimit -m"}, true},
		"memory, not asked":  {unix.RLIMIT_RSS, []string{"/bin/sh", "-c", "ulimit -n"}, false},
		"processes, by bash": {unix.RLIMIT_NPROC, []string{"bash", "-c", "(:); bash -c :"}, false},
		"processes, wanted":  {unix.RLIMIT_NPROC, []string{"bash", "-c", "ulimit -u"}, true},
		"processes, within":  {unix.RLIMIT_NPROC, []string{"bash", "-c", "x=$(ulimit -u)"}, true},
		"all":                {unix.RLIMIT_SIGPENDING, []string{"cat", "/proc/self/limits"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			var was unix.Rlimit
			if err := unix.Getrlimit(c.limit, &was); err != nil {
				t.Fatal(err)
			}
			l := w.takenOf(c.script...)
			less := unix.Rlimit{Cur: was.Cur - 1, Max: was.Max}
			if err := unix.Setrlimit(c.limit, &less); err != nil {
				t.Fatal(err)
			}
			defer unix.Setrlimit(c.limit, &was)
			w.compare(l, c.counts, "limits or umask changed")
		})
	}
}

// The umask is its process's, and what asks for it says no more than that it does.
//
//jitcache:control noumask
func TestUmaskCountsWhereItIsAskedFor(t *testing.T) {
	for script, counts := range map[string]bool{
		"umask": true, ":": false, "grep Umask /proc/self/status": true,
		"touch made; test -e made": true, "test -e made; mkdir made; test -d made": true, "ln -s / made; test -h made": false,
		"touch made; cat made": false,
	} {
		t.Run(script, func(t *testing.T) {
			w := newWorld(t)
			l := w.taken(script)
			defer unix.Umask(unix.Umask(0o077))
			w.compare(l, counts, "umask")
		})
	}
}

// Linux 4.6 does not say it. Linkers ask for it, and put what it is back.
func TestUmaskThatNobodyTellsIsRefused(t *testing.T) {
	defer func(was string) { ownStatus = was }(ownStatus)
	ownStatus = "/proc/version"
	for script, kept := range map[string]bool{"umask": false, ":": true} {
		if _, err := newWorld(t).run("/bin/sh", "-c", script); (err == nil) != kept {
			t.Errorf("%s: %v", script, err)
		}
	}
	if _, err := exec.LookPath("gcc"); err != nil {
		return
	}
	w := newWorld(t)
	w.put("a.c", "int f;")
	if _, err := w.run("gcc", "-shared", "-fPIC", "a.c", "-o", "a.so"); err != nil {
		t.Error(err)
	}
}
