// Each system call of a put and a get fails in turn.

package store

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// failure is how a system call is made to fail: it returns an error, or it moves only so
// many bytes.
type failure struct {
	errno syscall.Errno
	limit int // of a read or write; -1 with an error
}

var errnos = []syscall.Errno{
	unix.ENOSPC, unix.EDQUOT, unix.EIO, unix.EACCES, unix.EROFS, unix.EMFILE, unix.ESTALE, unix.ENOENT, unix.EINTR,
}

// failures returns all ways in which a single call is made to fail.
func failures() []failure {
	var all []failure
	for _, e := range errnos {
		all = append(all, failure{e, -1})
	}
	for _, limit := range []int{0, 1, 100} {
		all = append(all, failure{0, limit})
	}
	return all
}

func (f failure) String() string {
	if f.limit >= 0 {
		return fmt.Sprintf("short %d", f.limit)
	}
	return unix.ErrnoName(f.errno)
}

// hits reports whether the failure is one of the operation.
func (f failure) hits(op Op) bool { return f.limit < 0 || op == OpRead || op == OpWrite }

// harmless reports whether a failure must have no effect: the call is repeated, or goes on
// where it has stopped.
func (f failure) harmless() bool { return f.limit > 0 || f.errno == unix.EINTR }

// reason returns the reason that a failed lookup or put must give. If a write moves nothing
// and returns no error, there is no space.
func (f failure) reason() Reason {
	if f.limit == 0 {
		return NoSpace
	}
	return reasonOf(f.errno)
}

// setFault plans faults until the end of the test, or until Fault is set to
// nil. Tests that use it do not run in parallel.
func setFault(t *testing.T, f func(op Op, path string) (syscall.Errno, int)) {
	t.Helper()
	var mu sync.Mutex
	Fault = func(op Op, path string) (syscall.Errno, int) {
		mu.Lock()
		defer mu.Unlock()
		return f(op, path)
	}
	t.Cleanup(func() { Fault = nil })
}

// failNth runs fn, and makes the n-th call fail that the failure can hit. The test fails if
// there are fewer such calls.
func failNth(t *testing.T, n int, f failure, fn func()) {
	t.Helper()
	calls := 0
	setFault(t, func(op Op, _ string) (syscall.Errno, int) {
		if f.hits(op) {
			if calls++; calls == n {
				return f.errno, f.limit
			}
		}
		return 0, -1
	})
	fn()
	Fault = nil
	if calls < n {
		t.Errorf("the fault was planned for call %d of %d: it never fired", n, calls)
	}
}

// callsToFail runs fn without a fault. It returns which calls to make fail, so that every
// system call in the code fails: the first and the last call of each chain of callers. In
// a pass over 256 shards these are some dozens of two thousand.
func callsToFail(t *testing.T, f failure, fn func()) []int {
	t.Helper()
	at := map[[24]uintptr][]int{}
	calls := 0
	setFault(t, func(op Op, _ string) (syscall.Errno, int) {
		if f.hits(op) {
			calls++
			var chain [24]uintptr
			runtime.Callers(3, chain[:])
			at[chain] = append(at[chain], calls)
		}
		return 0, -1
	})
	fn()
	Fault = nil
	var chosen []int
	for _, n := range at {
		chosen = append(chosen, n[0], n[len(n)-1])
	}
	slices.Sort(chosen)
	return slices.Compact(chosen)
}

// quickDir returns a folder in memory if there is one. These tests make thousands of
// caches, which takes six times as long on a disk.
func quickDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "jitcache-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func quickStore(t *testing.T, durable bool) *Store {
	t.Helper()
	return open(t, func(o *Options) { o.Directory, o.Durable = quickDir(t), durable })
}

func descriptors(t *testing.T) int {
	t.Helper()
	names, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(names)
}

// noLeftovers checks that nothing is left in tmp.
func noLeftovers(t *testing.T, s *Store, what string) {
	t.Helper()
	if left, _ := filepath.Glob(s.v1 + "/tmp/*"); len(left) != 0 {
		t.Errorf("%s: left %v", what, left)
	}
}

// Every system call of a put, and of the write of the ledger after it, is made to fail in
// turn. The put has stored the whole entry or says why not; nothing is left behind; the
// next attempt works.
//
//jitcache:control nowritecheck
//jitcache:control noagain
//jitcache:control short
//jitcache:control leak
func TestEveryFailingCallOfAPutIsSurvived(t *testing.T) {
	want, old := payload(1, 5000), payload(2, 300)
	for name, durable := range map[string]bool{"plain": false, "durable": true} {
		for _, replace := range []bool{false, true} {
			for _, f := range failures() {
				t.Run(fmt.Sprintf("%s replace=%v %v", name, replace, f), func(t *testing.T) {
					failEveryCallOfAPut(t, f, durable, replace, old, want)
				})
			}
		}
	}
}

func failEveryCallOfAPut(t *testing.T, f failure, durable, replace bool, old, want []byte) {
	k := testKey(t, 1)
	prepare := func() *Store {
		s := quickStore(t, durable)
		if replace {
			put(t, s, k, old)
		}
		return s
	}
	var why Reason
	act := func(s *Store) {
		_, why = s.Put(Item{Key: k, Payload: want, Replace: replace})
		s.Flush()
	}
	fresh := prepare()
	calls := callsToFail(t, f, func() { act(fresh) })
	if len(calls) == 0 {
		t.Fatal("no call to fail")
	}
	for _, n := range calls {
		what := fmt.Sprintf("call %d", n)
		s := prepare()
		before := descriptors(t)
		failNth(t, n, f, func() { act(s) })
		switch {
		case why != None && f.harmless():
			t.Errorf("%s: not stored: %v", what, why)
		case why == Absent, why != None && f.errno != unix.ENOENT && why != f.reason():
			t.Errorf("%s: not stored: %v, want %v", what, why, f.reason())
		}
		got, missed := get(t, s, k)
		switch {
		case why == None && (missed != None || !bytes.Equal(got, want)):
			t.Fatalf("%s: stored, but %d bytes, %v", what, len(got), missed)
		case why != None && replace && !bytes.Equal(got, old):
			t.Fatalf("%s: not stored, but the old entry is %d bytes, %v", what, len(got), missed)
		case why != None && !replace && missed != Absent:
			t.Fatalf("%s: not stored, but %d bytes, %v", what, len(got), missed)
		}
		noLeftovers(t, s, what)
		if now := descriptors(t); now != before {
			t.Fatalf("%s: %d descriptors, %d before", what, now, before)
		}
		put(t, s, k, got)
		if _, missed := get(t, s, k); missed != None {
			t.Fatalf("%s: put again: %v", what, missed)
		}
	}
}

// Every system call of a lookup is made to fail in turn. It returns the right bytes, or a
// miss with the reason.
//
//jitcache:control short
//jitcache:control leak
func TestEveryFailingCallOfAGetIsSurvived(t *testing.T) {
	s := open(t)
	sizes := []int{0, 5000, wholeRead + 5000} // of the last one the footer is read first
	wants := make([][]byte, len(sizes))
	for i, size := range sizes {
		wants[i] = payload(i, size)
		put(t, s, testKey(t, i), wants[i])
	}
	s.small.Store(true) // every hit renews recency
	buf := make([]byte, wholeRead+10000)
	lookups := map[string]func(n int) ([]byte, Reason){
		"get": func(n int) ([]byte, Reason) { return get(t, s, testKey(t, n)) },
		"into": func(n int) ([]byte, Reason) {
			size, _, _, why := s.GetInto(&testKey(t, n).ID, buf)
			return buf[:size], why
		},
		"into exactly": func(n int) ([]byte, Reason) { // payload and the rest are read apart
			size, _, _, why := s.GetInto(&testKey(t, n).ID, buf[:sizes[n]])
			return buf[:size], why
		},
	}
	for name, lookup := range lookups {
		for _, f := range failures() {
			t.Run(name+" "+f.String(), func(t *testing.T) {
				for i, want := range wants {
					failEveryCallOfAGet(t, f, want, func() ([]byte, Reason) { return lookup(i) })
				}
			})
		}
	}
}

func failEveryCallOfAGet(t *testing.T, f failure, want []byte, lookup func() ([]byte, Reason)) {
	before := descriptors(t)
	for _, n := range callsToFail(t, f, func() { lookup() }) {
		var got []byte
		var why Reason
		failNth(t, n, f, func() { got, why = lookup() })
		switch {
		case why == None && !bytes.Equal(got, want):
			t.Fatalf("call %d: %d other bytes", n, len(got))
		case why != None && (f.harmless() || why != f.reason()):
			t.Fatalf("call %d: %v", n, why)
		}
		if now := descriptors(t); now != before {
			t.Fatalf("call %d: %d descriptors, %d before", n, now, before)
		}
	}
}
