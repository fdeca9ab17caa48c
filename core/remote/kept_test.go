// The connection that lookups share, and what may become of its descriptor.

package remote

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"jitcache/core/key"
	"jitcache/core/wire"
)

// echo is a helper of ours that answers requests with the names they ask for, some of each
// connection; all of them if that is 0. It counts who has come and who has gone.
type echo struct {
	came, gone atomic.Int32
	each       int
}

func (e *echo) serve(c net.Conn) {
	e.came.Add(1)
	defer e.gone.Add(1)
	c.Write([]byte{1, 3, 0, 1, 0xC0})
	for n := 0; e.each == 0 || n < e.each; n++ {
		request := make([]byte, 2+len("jitcache/1/team/")+64)
		if _, err := io.ReadFull(c, request); err != nil {
			return
		}
		c.Write(wire.AppendValue([]byte{wire.OK}, request[len(request)-64:]))
	}
}

// asks gets what the helper says of an entry, and reports whether that is of this one.
func asks(r *Remote, id key.ID) error {
	var data []byte
	_, err := r.Get(&id, func(n int) []byte {
		data = make([]byte, n)
		return data
	}, false)
	if err == nil && string(data) != id.String() {
		err = fmt.Errorf("%s, want %s", data, id)
	}
	return err
}

//jitcache:control connectseach
func TestLookupsOfABurstShareAConnection(t *testing.T) {
	r, e := fresh(t), &echo{}
	helperOf(t, r, e.serve)
	for n := range 5 {
		if err := asks(r, key.ID{byte(n)}); err != nil {
			t.Fatal(err)
		}
	}
	if n := e.came.Load(); n != 1 {
		t.Errorf("%d connections", n)
	}
	for end := time.Now().Add(20 * keptFor); e.gone.Load() == 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the connection stays")
		}
	}
	if err := asks(r, id); err != nil || e.came.Load() != 2 {
		t.Errorf("after a while: %v, %d connections", err, e.came.Load())
	}
}

func TestConnectionThatTheHelperHasEndedIsMadeAnew(t *testing.T) {
	r, e := fresh(t), &echo{each: 1}
	helperOf(t, r, e.serve)
	for n := range 5 {
		if err := asks(r, key.ID{byte(n)}); err != nil || !r.Asks() {
			t.Fatalf("%d: %v, asks %v", n, err, r.Asks())
		}
	}
	if n := e.came.Load(); n != 5 {
		t.Errorf("%d connections", n)
	}
}

//jitcache:control anydescriptor
func TestDescriptorThatTheHostHasTakenIsNotTouched(t *testing.T) {
	r, e := fresh(t), &echo{}
	helperOf(t, r, e.serve)
	if err := asks(r, id); err != nil {
		t.Fatal(err)
	}
	fd := r.kept.conn.fd
	file, err := os.Create(t.TempDir() + "/host")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	take := func() {
		if err := unix.Dup3(int(file.Fd()), fd, unix.O_CLOEXEC); err != nil {
			t.Fatal(err)
		}
	}
	take()
	defer unix.Close(fd)
	if err := asks(r, id); err != nil {
		t.Error(err)
	}
	if said, _ := os.ReadFile(file.Name()); len(said) > 0 {
		t.Errorf("the host's file has %q", said)
	}
	// What was kept since is elsewhere; its end is not the end of the host's either.
	if r.kept.conn == nil || r.kept.conn.fd == fd {
		t.Fatal("no other connection is kept")
	}
	fd, was := r.kept.conn.fd, fd
	defer unix.Close(fd)
	take()
	for end := time.Now().Add(20 * keptFor); ; time.Sleep(10 * time.Millisecond) {
		r.kept.mu.Lock()
		over := r.kept.conn == nil
		r.kept.mu.Unlock()
		if over {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the connection stays")
		}
	}
	for _, fd := range []int{fd, was} {
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err != nil {
			t.Errorf("descriptor %d of the host: %v", fd, err)
		}
	}
}

func TestThreadsThatLookUpAtOnceGetWhatTheyAskedFor(t *testing.T) {
	r, e := fresh(t), &echo{each: 7}
	helperOf(t, r, e.serve)
	var threads sync.WaitGroup
	for n := range 8 {
		threads.Go(func() {
			for m := range 100 {
				if err := asks(r, key.ID(bytes.Repeat([]byte{byte(n), byte(m)}, 16))); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	threads.Wait()
}
