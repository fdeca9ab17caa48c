package store

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// setFault plans faults until the end of the test. Tests that use it do not run
// in parallel.
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

// failNth plans one fault: the n-th call of any of the operations fails. It
// returns whether that has happened.
func failNth(t *testing.T, n int, e syscall.Errno, limit int) (fired func() bool) {
	t.Helper()
	calls, done := 0, false
	setFault(t, func(op Op, _ string) (syscall.Errno, int) {
		calls++
		if calls != n {
			return 0, -1
		}
		done = true
		if limit >= 0 && op != OpRead && op != OpWrite {
			return 0, -1
		}
		return e, limit
	})
	return func() bool { return done }
}

func descriptors(t *testing.T) int {
	t.Helper()
	names, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(names)
}

// Every system call of a put, then of a get, is made to fail in turn. Whatever
// happens: no wrong bytes, no temporary file, no descriptor left open, and the
// next attempt works.
func TestEveryFailingCallIsSurvived(t *testing.T) {
	errors := []syscall.Errno{unix.EIO, unix.ENOSPC, unix.EACCES, unix.EROFS, unix.EMFILE, unix.ESTALE, unix.EINTR, unix.ENOENT}
	want := payload(1, 5000)
	for _, e := range errors {
		t.Run(fmt.Sprint(e), func(t *testing.T) { failEveryCall(t, e, -1, want) })
	}
	for _, limit := range []int{0, 1, 100} {
		t.Run(fmt.Sprintf("short %d", limit), func(t *testing.T) { failEveryCall(t, 0, limit, want) })
	}
}

func failEveryCall(t *testing.T, e syscall.Errno, limit int, want []byte) {
	for n := 1; ; n++ {
		s := open(t)
		k := testKey(t, 1)
		before := descriptors(t)
		fired := failNth(t, n, e, limit)
		_, why := s.Put(Item{Key: k, Payload: want})
		s.Flush()
		putFired := fired()
		Fault = nil
		if why != None && !putFired {
			t.Fatalf("put without a fault: %v", why)
		}
		if why == Absent {
			t.Errorf("call %d of put: the reason is %q, which says nothing", n, why)
		}
		if got, missed := get(t, s, k); missed == None && !bytes.Equal(got, want) {
			t.Fatalf("call %d of put failed: other bytes", n)
		} else if why == None && missed != None {
			t.Fatalf("call %d of put failed: stored, but %v", n, missed)
		}
		if left, _ := filepath.Glob(s.v1 + "/tmp/*"); len(left) != 0 {
			// An unlink that was made to fail leaves its file for the sweep.
			if !strings.Contains(left[0], s.tempName()[:10]) {
				t.Errorf("call %d of put failed: left %v", n, left)
			}
		}
		put(t, s, k, want)
		fired = failNth(t, n, e, limit)
		got, why := get(t, s, k)
		getFired := fired()
		Fault = nil
		if why == None && !bytes.Equal(got, want) || why != None && !getFired {
			t.Fatalf("call %d of get failed: %d bytes, %v", n, len(got), why)
		}
		if _, why := get(t, s, k); why != None {
			t.Fatalf("call %d of get had failed: now %v", n, why)
		}
		if now := descriptors(t); now != before {
			t.Fatalf("call %d: %d descriptors, %d before", n, now, before)
		}
		if !putFired && !getFired {
			if n < 10 {
				t.Errorf("only %d faults fired", n)
			}
			return
		}
	}
}

func TestEveryFailingCallOfMaintenanceIsSurvived(t *testing.T) {
	for name, run := range map[string]func(s *Store){
		"trim":   func(s *Store) { s.Trim(context.Background(), nil) },
		"clear":  func(s *Store) { s.Clear(context.Background(), "cubin", nil) },
		"verify": func(s *Store) { s.Verify(context.Background(), false, nil) },
		"remove": func(s *Store) { k := testKey(&testing.T{}, 2); s.Remove(&k.ID) },
		"evict": func(s *Store) {
			s.config.MaxSize = 3 * 600
			s.Put(Item{Key: testKey(&testing.T{}, 9), Payload: payload(9, 100)})
		},
	} {
		t.Run(name, func(t *testing.T) {
			for n := 1; n < 4000; n += 1 + n/20 {
				s := open(t)
				for i := range 5 {
					put(t, s, testKey(t, i), payload(i, 100))
				}
				before := descriptors(t)
				fired := failNth(t, n, unix.EIO, -1)
				run(s)
				done := fired()
				Fault = nil
				for i := range 5 {
					if got, why := get(t, s, testKey(t, i)); why == None && !bytes.Equal(got, payload(i, 100)) {
						t.Fatalf("call %d failed: entry %d has other bytes", n, i)
					}
				}
				if now := descriptors(t); now != before {
					t.Fatalf("call %d failed: %d descriptors, %d before", n, now, before)
				}
				if !done {
					return
				}
			}
		})
	}
}
