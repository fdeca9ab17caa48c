// Each system call of each task fails in turn.

package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"jitcache/core/key"
)

// task is a call on a directory that is neither a put nor a get. It returns the reason if
// it has failed.
type task struct {
	name string
	run  func(t *testing.T, s *Store) Reason
	// gone says that it removes entries when it works.
	gone bool
}

const taskEntries = 5

// elf is a payload that a pin can link.
func elf(n int) []byte { return append([]byte("\x7fELF"), payload(n, 600)...) }

func tasks() []task {
	ctx := context.Background()
	return []task{
		{name: "trim", run: func(_ *testing.T, s *Store) Reason { _, err := s.Trim(ctx, nil); return why(err) }},
		{name: "clear", gone: true, run: func(_ *testing.T, s *Store) Reason { _, err := s.Clear(ctx, "", nil); return why(err) }},
		{name: "clear a kind", gone: true, run: func(_ *testing.T, s *Store) Reason {
			_, err := s.Clear(ctx, key.DefaultKind, nil)
			return why(err)
		}},
		{name: "verify", run: verifyTask},
		{name: "remove", gone: true, run: func(t *testing.T, s *Store) Reason { _, why := s.Remove(&testKey(t, 2).ID); return why }},
		{name: "evict", gone: true, run: func(t *testing.T, s *Store) Reason {
			s.config.MaxSize = 3 * 1100
			_, why := s.Put(Item{Key: testKey(t, 9), Payload: payload(9, 100)})
			return why
		}},
		{name: "names", run: namesTask},
		{name: "pin", run: pinTask},
		{name: "touch", run: func(t *testing.T, s *Store) Reason { s.Touch(&testKey(t, 1).ID); return None }},
		{name: "zero", run: func(_ *testing.T, s *Store) Reason { return why(s.Zero(ctx)) }},
		{name: "ledger", run: func(_ *testing.T, s *Store) Reason {
			s.CountRefused([]byte("cubin"), NoSpace)
			s.Flush()
			s.Usage()
			return None
		}},
		{name: "config", run: func(_ *testing.T, s *Store) Reason { return why(s.Configure(func(c *Config) { c.MaxSize = 12345678 })) }},
		{name: "open", run: openTask},
		{name: "list", run: func(t *testing.T, s *Store) Reason {
			s.Len()
			s.Match(testKey(t, 1).ID.String()[:4])
			_, why := s.Stat(&testKey(t, 1).ID)
			return why
		}},
		{name: "walk", run: func(_ *testing.T, s *Store) Reason { return why(s.Walk(ctx, func(*Entry) error { return nil })) }},
	}
}

// why returns the reason of an error, and IO for one without a reason.
func why(err error) Reason {
	var r *Refused
	switch {
	case err == nil:
		return None
	case errors.As(err, &r):
		return r.Reason
	}
	return reasonOfErr(err)
}

// verifyTask: a good entry that cannot be read must not be removed as a bad one.
func verifyTask(t *testing.T, s *Store) Reason {
	r, err := s.Verify(context.Background(), false, nil)
	if r.Removed != 0 {
		t.Errorf("verify removed %v", r.Bad)
	}
	return why(err)
}

// namesTask: the keys that are remembered for a name are right, or there are none.
func namesTask(t *testing.T, s *Store) Reason {
	for n := range taskEntries {
		k := testKey(t, n)
		s.rememberName(k, 7)
		if named := s.LastNamed(k.Name); len(named) > 0 && named[0].Key.ID != k.ID {
			t.Errorf("name of entry %d: %v", n, named[0].Key.ID)
		}
	}
	return None
}

// pinTask: a path can be opened and has the right bytes, however it was made.
func pinTask(t *testing.T, s *Store) Reason {
	b, why := s.Get(&testKey(t, 3).ID)
	if why != None {
		return why
	}
	defer b.Release()
	p, err := NewPin(s, t.TempDir(), b)
	if err != nil {
		t.Errorf("pin: %v", err)
		return IO
	}
	defer p.Release()
	if got, err := os.ReadFile(p.Path); err != nil || !bytes.HasPrefix(got, b.Data()) {
		t.Errorf("pin: %d bytes, %v", len(got), err)
	}
	return None
}

// openTask opens the directory once more. Refused or not, it never forgets the
// directory's cap.
func openTask(t *testing.T, s *Store) Reason {
	size := int64(1 << 40)
	again, err := Open(Options{Directory: s.root, MaxSize: &size})
	if err != nil {
		return why(err)
	}
	if again.MaxSize() != size {
		t.Errorf("opened with a cap of %d", again.MaxSize())
	}
	if _, err := Open(Options{Directory: s.root + "/new"}); err != nil {
		return why(err)
	}
	return None
}

func taskStore(t *testing.T) *Store {
	t.Helper()
	s := quickStore(t, false)
	for n := range taskEntries {
		put(t, s, testKey(t, n), elf(n))
	}
	s.Flush()
	return s
}

// Every system call in the code of maintenance is made to fail. There are no wrong bytes,
// nothing is removed that must stay, nothing is left behind, the reason fits, and the next
// attempt works. With -short one call in eight.
//
//jitcache:control noagain
//jitcache:control leak
func TestEveryFailingCallOfATaskIsSurvived(t *testing.T) {
	for _, task := range tasks() {
		for _, f := range failures() {
			t.Run(task.name+" "+f.String(), func(t *testing.T) { failEveryCallOfATask(t, f, task) })
		}
	}
}

func failEveryCallOfATask(t *testing.T, f failure, task task) {
	fresh := taskStore(t)
	calls := callsToFail(t, f, func() { task.run(t, fresh) })
	for i, n := range calls {
		if testing.Short() && (len(calls)-1-i)%8 != 0 {
			continue
		}
		what := fmt.Sprintf("call %d", n)
		s := taskStore(t)
		before := descriptors(t)
		var why Reason
		failNth(t, n, f, func() { why = task.run(t, s) })
		if why != None && (f.harmless() || why != f.reason() && f.errno != unix.ENOENT) {
			t.Errorf("%s: failed with %v", what, why)
		}
		if now := descriptors(t); now != before {
			t.Errorf("%s: %d descriptors, %d before", what, now, before)
		}
		noLeftovers(t, s, what)
		for n := range taskEntries {
			got, missed := get(t, s, testKey(t, n))
			if missed == None && !bytes.Equal(got, elf(n)) || missed != None && (!task.gone || missed != Absent) {
				t.Fatalf("%s: entry %d has %d bytes, %v", what, n, len(got), missed)
			}
		}
		if why := task.run(t, s); why != None {
			t.Fatalf("%s: once more: %v", what, why)
		}
		if n == calls[len(calls)-1] {
			trueLedger(t, s, what)
		}
	}
}

// trueLedger checks that after a trim the ledger says what the directory holds.
func trueLedger(t *testing.T, s *Store, what string) {
	t.Helper()
	if _, err := s.Trim(context.Background(), nil); err != nil {
		t.Fatalf("%s: trim: %v", what, err)
	}
	var bytes, entries int64
	s.Walk(context.Background(), func(e *Entry) error {
		bytes, entries = bytes+e.Size, entries+1
		return nil
	})
	if u := s.Usage(); u.Bytes != bytes || u.Entries != entries {
		t.Errorf("%s: the ledger says %d entries of %d bytes, there are %d of %d", what, u.Entries, u.Bytes, entries, bytes)
	}
}

// One operation fails every time, as on a disk that stays full or broken. All calls return,
// and when the disk works again, so does the cache.
//
//jitcache:control nowritecheck
//jitcache:control short
//jitcache:control leak
func TestAnOperationThatAlwaysFailsIsSurvived(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o077)) // so that modes are put right, with a chmod
	for _, op := range []Op{
		OpOpen, OpStat, OpRead, OpWrite, OpSync, OpClose, OpTouch, OpChmod, OpRename, OpUnlink, OpMkdir, OpLink, OpList,
	} {
		for _, e := range []syscall.Errno{unix.ENOSPC, unix.EDQUOT, unix.EIO, unix.EACCES, unix.EROFS, unix.EMFILE, unix.ESTALE} {
			t.Run(string(op)+" "+unix.ErrnoName(e), func(t *testing.T) { failAlways(t, op, failure{e, -1}) })
		}
	}
	for _, limit := range []int{1, 100} {
		t.Run(fmt.Sprintf("short %d", limit), func(t *testing.T) {
			failAlways(t, OpRead, failure{0, limit})
			failAlways(t, OpWrite, failure{0, limit})
		})
	}
}

// sharedStore is one that uses every operation.
func sharedStore(t *testing.T) *Store {
	t.Helper()
	dir := quickDir(t)
	if err := os.Chmod(dir, 0o770); err != nil {
		t.Fatal(err)
	}
	s, err := Open(Options{Directory: dir, Durable: true, Trust: Trust{Shared: true}})
	if err != nil {
		t.Fatal(err)
	}
	for n := range taskEntries {
		put(t, s, testKey(t, n), elf(n))
	}
	s.small.Store(true)
	return s
}

func failAlways(t *testing.T, op Op, f failure) {
	s := sharedStore(t)
	before := descriptors(t)
	fired := false
	setFault(t, func(is Op, _ string) (syscall.Errno, int) {
		if is != op {
			return 0, -1
		}
		fired = true
		return f.errno, f.limit
	})
	for n := range 2 * taskEntries {
		_, why := s.Put(Item{Key: testKey(t, n), Payload: elf(n), Replace: n%2 == 0})
		got, missed := get(t, s, testKey(t, n))
		if missed == None && !bytes.Equal(got, elf(n)) || f.harmless() && (why != None || missed != None) {
			t.Errorf("entry %d: %v, then %d bytes, %v", n, why, len(got), missed)
		}
		if why != None && why != f.reason() || missed != None && missed != Absent && missed != f.reason() {
			t.Errorf("entry %d: not stored: %v; missed: %v", n, why, missed)
		}
	}
	if b, why := s.Get(&testKey(t, 1).ID); why == None {
		if p, err := NewPin(s, t.TempDir(), b); err == nil {
			p.Release()
		}
		b.Release()
	}
	for _, task := range tasks() {
		if task.name != "pin" { // there may be no place for a pin
			task.run(t, s)
		}
	}
	Fault = nil
	if !fired {
		t.Error("the fault never fired")
	}
	if now := descriptors(t); now != before {
		t.Errorf("%d descriptors, %d before", now, before)
	}
	put(t, s, testKey(t, 3), elf(3))
	if got, why := get(t, s, testKey(t, 3)); why != None || !bytes.Equal(got, elf(3)) {
		t.Errorf("afterwards: %d bytes, %v", len(got), why)
	}
	trueLedger(t, s, "afterwards")
}
