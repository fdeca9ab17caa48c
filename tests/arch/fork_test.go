// Locks of Python are new in forked children.

package arch

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// A lock that another thread holds during a fork is never freed in the child. So Python
// modules use a ForkLock, which a child replaces (tests/python/test_fork.py). A ForkLock is
// kept for ever, so only modules may have one.

const forkLocks = "python/jitcache/_fork.py"

var (
	plainLock = regexp.MustCompile(`\b(?:threading|_thread)\.(?:R?Lock|Condition|(?:Bounded)?Semaphore|allocate_lock)\(`)
	forkLock  = regexp.MustCompile(`\bForkLock\(`)
	ofModule  = regexp.MustCompile(`^\w+ = ForkLock\([\w.]*\)`)
)

// keptLocks returns the lines of a module that make a lock which a forked child keeps, or a
// ForkLock that does not belong to a module.
func keptLocks(text string) (kept []string) {
	for n, line := range strings.Split(text, "\n") {
		if plainLock.MatchString(line) || forkLock.MatchString(line) && !ofModule.MatchString(line) {
			kept = append(kept, fmt.Sprintf("%d: %s", n+1, strings.TrimSpace(line)))
		}
	}
	return kept
}

func TestLocksAreNewInForkedChildren(t *testing.T) {
	locks := 0
	files(t, "python", ".py", func(name, text string) {
		if name == forkLocks {
			return
		}
		locks += len(forkLock.FindAllString(text, -1))
		for _, line := range keptLocks(text) {
			t.Errorf("%s:%s: a forked child keeps it; have a ForkLock, at the top of a module", name, line)
		}
	})
	if locks < 10 {
		t.Errorf("%d locks are made in python, want all of them", locks)
	}
}

func TestLocksThatAreKeptAreSeen(t *testing.T) {
	for text, want := range map[string]int{
		"_lock = threading.Lock()\n": 1,
		"_other: Any = _thread.allocate_lock()\n_lock = ForkLock(threading.RLock)\n": 1,
		"_lock = ForkLock()\n": 0,
		"class A:\n    def __init__(self):\n        self._lock = threading.RLock()\n":    1,
		"class A:\n    def __init__(self):\n        self._lock = ForkLock()\n":           1,
		"locks = [threading.Lock()]\nwaiting = threading.Condition()\n_a = ForkLock()\n": 2,
	} {
		if got := keptLocks(text); len(got) != want {
			t.Errorf("%q: %q, want %d", text, got, want)
		}
	}
}
