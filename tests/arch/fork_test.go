package arch

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A lock that another thread holds while the process is forked is never free in
// the child. So whoever has a lock in Python makes a new one there.

var (
	makesLock  = regexp.MustCompile(`\b(?:threading|_thread)\.(?:R?Lock|Condition|(?:Bounded)?Semaphore|allocate_lock)\(`)
	namesLock  = regexp.MustCompile(`^\s*((?:self\.)?\w+)(?:: [^=]+)? = [\w.]+\(\)`)
	registered = regexp.MustCompile(`(?m)^os\.register_at_fork\(.*\bafter_in_child=(?:\w+\.)?(\w+)\)`)
)

// keptLocks returns the lines of a module that make a lock which a forked child
// keeps.
func keptLocks(text string) (kept []string) {
	var renewed []string
	for _, m := range registered.FindAllStringSubmatch(text, -1) {
		renewed = append(renewed, body(text, m[1])...)
	}
	for n, line := range strings.Split(text, "\n") {
		if !makesLock.MatchString(line) {
			continue
		}
		name := namesLock.FindStringSubmatch(line)
		if name == nil || !slices.ContainsFunc(renewed, func(line string) bool {
			return strings.HasPrefix(line, name[1]+" = ") && makesLock.MatchString(line)
		}) {
			kept = append(kept, fmt.Sprintf("%d: %s", n+1, strings.TrimSpace(line)))
		}
	}
	return kept
}

// body returns the statements of a function of a Python module.
func body(text, name string) (lines []string) {
	_, rest, _ := strings.Cut(text, "def "+name+"(")
	for n, line := range strings.Split(rest, "\n") {
		if n > 0 && line != "" && !strings.HasPrefix(line, "    ") {
			break
		}
		if n > 1 && strings.HasPrefix(strings.TrimSpace(line), "def ") {
			break
		}
		lines = append(lines, strings.TrimSpace(line))
	}
	return lines
}

func TestLocksAreNewInForkedChildren(t *testing.T) {
	locks := 0
	files(t, "python", ".py", func(name, text string) {
		locks += len(makesLock.FindAllString(text, -1))
		for _, line := range keptLocks(text) {
			t.Errorf("%s:%s: a forked child keeps it; make a new one in os.register_at_fork(after_in_child=…)", name, line)
		}
	})
	if locks < 20 {
		t.Errorf("%d locks are made in python, want all of them", locks)
	}
}

func TestLocksThatAreKeptAreSeen(t *testing.T) {
	const made, renewed = "_lock = threading.Lock()\n", "def _after_fork() -> None:\n    global _lock\n    _lock = threading.Lock()\n"
	const hook = "os.register_at_fork(after_in_child=_after_fork)\n"
	for text, want := range map[string]int{
		made:           1,
		made + renewed: 2,
		made + "def _after_fork():\n    x()\n" + hook:                                        1,
		made + renewed + hook:                                                                0,
		"_other: Any = _thread.allocate_lock()\n" + made + renewed + hook:                    1,
		"class A:\n    def __init__(self):\n        self._lock = threading.RLock()\n" + hook: 1,
		"locks = [threading.Lock()]\n":                                                       1,
	} {
		if got := keptLocks(text); len(got) != want {
			t.Errorf("%q: %q, want %d", text, got, want)
		}
	}
}
