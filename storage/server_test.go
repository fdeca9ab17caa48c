// What a client gets, and who is a client.

package storage

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"jitcache/core/wire"
	"jitcache/storage/engine"
)

var ourKey = "jitcache/1/team/" + strings.Repeat("ab", 32)

func TestClientGetsWhatItHasPut(t *testing.T) {
	socket, _, _ := serving(t, 0)
	c := dial(t, socket)
	for _, key := range []string{ourKey, "\x00\xff of ccache"} {
		value := strings.Repeat("value ", 1000)
		for i, step := range []struct {
			request []byte
			status  byte
		}{
			{getRequest(key), wire.Noop},
			{wire.AppendText([]byte{wire.Remove}, key), wire.Noop},
			{putRequest(key, 0, []byte(value)), wire.OK},
			{putRequest(key, 0, []byte("other")), wire.Noop},
		} {
			if status, err := ask(t, c, step.request); status != step.status || err != nil {
				t.Errorf("%d: %d, %v", i, status, err)
			}
		}
		if got, err := get(t, c, key); got != value || err != nil {
			t.Errorf("%.20q, %v", got, err)
		}
		ask(t, c, putRequest(key, wire.Overwrite, []byte("other")))
		if got, err := get(t, c, key); got != "other" || err != nil {
			t.Errorf("%.20q, %v", got, err)
		}
		if status, _ := ask(t, c, wire.AppendText([]byte{wire.Remove}, key)); status != wire.OK {
			t.Error(status)
		}
	}
}

func TestInfoIsWhatTheProtocolSays(t *testing.T) {
	socket, _, _ := serving(t, 0)
	c := dial(t, socket)
	c.Write([]byte{wire.Info})
	if who, err := wire.ReadText(c); err != nil || !strings.HasPrefix(string(who), "jitcache-storage") {
		t.Errorf("%q, %v", who, err)
	}
	n, err := wire.ReadByte(c)
	if err != nil {
		t.Fatal(err)
	}
	for range n {
		if text, err := wire.ReadText(c); err != nil || len(text) == 0 {
			t.Errorf("%q, %v", text, err)
		}
	}
	if status, err := ask(t, c, []byte{wire.Status}); status != wire.OK || err != nil {
		t.Fatal(status, err)
	}
	text, err := wire.ReadValue(c, 1<<20)
	var d Description
	if err != nil || json.Unmarshal(text, &d) != nil || d.State != "up" || d.Pid != os.Getpid() {
		t.Errorf("%s, %v", text, err)
	}
}

func TestWhatIsNoRequestEndsTheConnectionAndNothingElse(t *testing.T) {
	socket, _, _ := serving(t, 0)
	good := dial(t, socket)
	for _, request := range [][]byte{
		{0x05},
		{0xBF},
		{0xFF},
		{wire.Get, 0},
		wire.AppendSize(append(wire.AppendText([]byte{wire.Put}, "k"), 0), math.MaxUint64),
		wire.AppendSize(append(wire.AppendText([]byte{wire.Put}, "k"), 0), 1<<63),
		wire.AppendSize(append(wire.AppendText([]byte{wire.Put}, "k"), 0), 4_000_001),
		wire.AppendSize([]byte{wire.Upload}, 1<<40),
	} {
		c := dial(t, socket)
		c.Write(request)
		if !closed(c) {
			t.Errorf("%x: it is not closed", request)
		}
	}
	for range 300 {
		c := dial(t, socket)
		noise := make([]byte, rand.IntN(100))
		for i := range noise {
			noise[i] = byte(rand.Uint32())
			if i == 0 && noise[i] == wire.Stop {
				noise[i] = 0xFF
			}
		}
		c.Write(noise)
		c.Close()
	}
	if status, err := ask(t, good, getRequest("k")); status > wire.Noop || err != nil {
		t.Errorf("%d, %v", status, err)
	}
}

//jitcache:control anypeer
func TestAnotherUserIsNotServed(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("it takes root to be another user")
	}
	socket, _, _ := serving(t, 0)
	os.Chmod(socket, 0o777)
	var err error
	done := make(chan bool)
	go func() { // a thread of its own, which is not used again
		defer close(done)
		lockThread()
		if _, _, e := syscall.RawSyscall(syscall.SYS_SETRESUID, 12345, 12345, ^uintptr(0)); e != 0 {
			err = e
			return
		}
		fd, e := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
		if err = e; err != nil {
			return
		}
		defer syscall.Close(fd)
		if err = syscall.Connect(fd, &syscall.SockaddrUnix{Name: socket}); err != nil {
			return
		}
		n, e := syscall.Read(fd, make([]byte, 1))
		if n != 0 || e != nil && e != syscall.ECONNRESET {
			err = errors.New("it is greeted")
		}
	}()
	<-done
	if err != nil {
		t.Error(err)
	}
}

func TestSecondHelperOfASocketEnds(t *testing.T) {
	socket, _, _ := serving(t, 0)
	settings := &Settings{Endpoint: socket, Engine: engine.Config{URL: &url.URL{Scheme: "file", Path: "/"}}}
	second, err := New(settings)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := second.Run(); !errors.Is(err, ErrRuns) {
		t.Error(err)
	}
	if _, err := get(t, dial(t, socket), "k"); err != nil {
		t.Error(err)
	}
}

func TestSocketThatAKilledHelperLeftIsTakenOver(t *testing.T) {
	dir := t.TempDir()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: dir + "/s", Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	l.Close()
	s, err := New(&Settings{Endpoint: dir + "/s", Engine: engine.Config{URL: &url.URL{Scheme: "file", Path: dir}}})
	if err != nil {
		t.Fatal(err)
	}
	go s.Run()
	defer func() { s.end <- "the test is over" }()
	for range 1000 {
		if c, err := net.Dial("unix", dir+"/s"); err == nil {
			c.Close()
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Error("it does not answer")
}

//jitcache:control nodenied
func TestHelperEnds(t *testing.T) {
	for name, c := range map[string]struct {
		do  func(t *testing.T, socket string, e *inMemory)
		why string
	}{
		"idle":    {func(*testing.T, string, *inMemory) {}, "idle"},
		"stopped": {func(t *testing.T, s string, _ *inMemory) { ask(t, dial(t, s), []byte{wire.Stop}) }, "stopped by a client"},
		"denied": {func(t *testing.T, s string, e *inMemory) {
			e.fails(engine.ErrDenied)
			if _, err := get(t, dial(t, s), "k"); err == nil {
				t.Error("no error")
			}
		}, engine.ErrDenied.Error()},
		"no socket": {func(_ *testing.T, s string, _ *inMemory) { os.Remove(s) }, "its socket is gone"},
	} {
		t.Run(name, func(t *testing.T) {
			idle := time.Minute
			if c.why == "idle" {
				idle = 200 * time.Millisecond
			}
			socket, e, ended := serving(t, idle)
			c.do(t, socket, e)
			select {
			case why := <-ended:
				if why != c.why {
					t.Error(why)
				}
			case <-time.After(10 * time.Second):
				t.Error("it has not ended")
			}
		})
	}
}

func TestDeadEngineIsAskedByOneAndRequestsAreRefusedAtOnce(t *testing.T) {
	socket, e, _ := serving(t, 0)
	c := dial(t, socket)
	e.fails(errors.New("connection refused"))
	if _, err := get(t, c, "k"); err == nil {
		t.Fatal("no error")
	}
	asked := e.requests()
	for range 100 {
		if _, err := get(t, c, "k"); err == nil || !strings.HasPrefix(err.Error(), "down: ") {
			t.Fatalf("%v", err)
		}
	}
	if n := e.requests(); n != asked {
		t.Errorf("%d requests were made", n-asked)
	}
	e.fails(nil)
	for range 200 {
		if _, err := get(t, c, "k"); err == nil {
			return // it has recovered by itself
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Error("it is down for ever")
}

func TestWhatIsNoEntryIsAnErrorAndABombTakesNoMemory(t *testing.T) {
	socket, e, _ := serving(t, 0)
	c := dial(t, socket)
	name := strings.Repeat("ab", 32)
	good := packEntry([]byte(strings.Repeat("entry ", 10000)))
	lies := func(size uint64) []byte {
		b := bytes.Clone(packEntry(make([]byte, 64<<20)))
		copy(b[8:], wire.AppendSize(nil, size))
		return b
	}
	for what, value := range map[string][]byte{
		"html": []byte("<html>please log in</html>"), "empty": {}, "truncated": good[:len(good)-1], "longer": append(bytes.Clone(good), 0),
		"head alone": good[:objectHead], "negative": lies(math.MaxUint64), "bomb": lies(1000), "bomb as large as it says": packEntry(make([]byte, 64<<20)),
		"method": append([]byte("jcobj\x00\x07\x01"), make([]byte, 20)...), "version": append([]byte("jcobj\x00\x00\x09"), make([]byte, 20)...),
	} {
		e.mu.Lock()
		e.values[name] = value
		e.mu.Unlock()
		if got, err := get(t, c, ourKey); err == nil {
			t.Errorf("%s: %d bytes", what, len(got))
		}
	}
	e.mu.Lock()
	e.values[name] = good
	e.mu.Unlock()
	if got, err := get(t, c, ourKey); err != nil || len(got) != 60000 {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

//jitcache:control nobomb
func TestDecompressionTakesNoMoreThanItSays(t *testing.T) {
	bomb := packEntry(make([]byte, 512<<20))
	copy(bomb[8:], wire.AppendSize(nil, 1<<20))
	before := resident(t)
	if _, err := unpack(bomb, 1<<30); !errors.Is(err, errBomb) {
		t.Error(err)
	}
	if grown := resident(t) - before; grown > 100<<20 {
		t.Errorf("%d MB", grown>>20)
	}
}

func TestManyClientsAtOnce(t *testing.T) {
	socket, _, _ := serving(t, 0)
	var group sync.WaitGroup
	for i := range 64 {
		group.Go(func() {
			c := dial(t, socket)
			value := strings.Repeat(string(rune('a'+i%26)), 5000)
			key := strings.Repeat(string(rune('a'+i)), 20)
			for range 20 {
				if status, err := ask(t, c, putRequest(key, wire.Overwrite, []byte(value))); status != wire.OK {
					t.Error(status, err)
				}
				if got, err := get(t, c, key); got != value {
					t.Errorf("%.10q, %v", got, err)
				}
			}
		})
	}
	group.Wait()
}

// A client that sends half of a request and goes away holds nothing up.
func FuzzSession(f *testing.F) {
	f.Add(getRequest(ourKey))
	f.Add(putRequest("k", 1, []byte("value")))
	f.Add([]byte{wire.Info})
	f.Add(wire.AppendValue([]byte{wire.Upload}, []byte("/v1/outbox/0123456789abcdef.-")))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := New(&Settings{Engine: engine.Config{URL: &url.URL{Scheme: "file", Path: "/nowhere"}}})
		if err != nil {
			t.Fatal(err)
		}
		s.engine = &inMemory{values: map[string][]byte{}}
		s.places <- true // as for each client that is accepted
		here, there := net.Pipe()
		go func() {
			there.Write(data)
			there.Close()
		}()
		go func() {
			buf := make([]byte, 1<<16)
			for {
				if _, err := there.Read(buf); err != nil {
					return
				}
			}
		}()
		done := make(chan bool)
		go func() {
			(&session{Server: s, conn: here}).serve()
			close(done)
		}()
		select {
		case <-done:
		case <-time.After(time.Minute):
			t.Fatal("it does not end")
		}
		here.Close()
	})
}
