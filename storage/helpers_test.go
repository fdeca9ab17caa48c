// An engine in memory, and a helper with it, for the tests of this package.

package storage

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"os"
	"sync"
	"testing"
	"time"

	"jitcache/core/key"
	"jitcache/core/store"
	"jitcache/core/wire"
	"jitcache/storage/engine"
)

// inMemory is an engine that does as it is told.
type inMemory struct {
	mu     sync.Mutex
	values map[string][]byte
	err    error // of every request
	asked  int
	probes int
}

func (e *inMemory) request(n engine.Name) (string, error) {
	e.asked++
	return n.Parts[len(n.Parts)-1], e.err
}

func (e *inMemory) Get(_ context.Context, n engine.Name, limit int64) ([]byte, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	name, err := e.request(n)
	value, ok := e.values[name]
	switch {
	case err != nil:
		return nil, err
	case !ok:
		return nil, engine.ErrNotFound
	case int64(len(value)) > limit:
		return nil, engine.ErrTooLarge
	}
	return value, nil
}

func (e *inMemory) Put(_ context.Context, n engine.Name, value []byte, overwrite bool) (bool, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	name, err := e.request(n)
	if _, ok := e.values[name]; err != nil || ok && !overwrite {
		return false, err
	}
	e.values[name] = bytes.Clone(value)
	return true, nil
}

func (e *inMemory) Remove(_ context.Context, n engine.Name) (bool, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	name, err := e.request(n)
	_, ok := e.values[name]
	delete(e.values, name)
	return ok && err == nil, err
}

func (e *inMemory) Probe(context.Context) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.probes++
	return e.err
}

func (e *inMemory) Atomic() bool { return true }

func (e *inMemory) Close() {}

func (e *inMemory) fails(err error) {
	e.mu.Lock()
	e.err = err
	e.mu.Unlock()
}

func (e *inMemory) requests() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.asked
}

// serving starts a server over an engine in memory, and says how it ended.
func serving(t *testing.T, idle time.Duration, change ...func(*Server)) (socket string, e *inMemory, ended chan string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "storage") // which others may enter
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	os.Chmod(dir, 0o755)
	s, err := New(&Settings{
		Endpoint: dir + "/s", Idle: idle, URL: "test:",
		Engine: engine.Config{URL: &url.URL{Scheme: "file", Path: t.TempDir()}, Attributes: map[string]string{"max-object": "4000000"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	e = &inMemory{values: map[string][]byte{}}
	s.engine, s.state.probe = e, e.Probe
	for _, fn := range change {
		fn(s)
	}
	ended = make(chan string, 1)
	go func() {
		why, err := s.Run()
		if err != nil {
			why = err.Error()
		}
		ended <- why
	}()
	t.Cleanup(func() {
		select {
		case s.end <- "the test is over":
		default:
		}
	})
	for range 1000 {
		if c, err := net.Dial("unix", s.settings.Endpoint); err == nil { // a socket is there before somebody listens
			c.Close()
			break
		}
		time.Sleep(time.Millisecond)
	}
	return s.settings.Endpoint, e, ended
}

// dial connects as a client that has read the greeting.
func dial(t *testing.T, socket string) net.Conn {
	t.Helper()
	c, err := net.Dial("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(20 * time.Second))
	if g, err := wire.ReadGreeting(c); err != nil || !g.Jitcache {
		t.Fatalf("%+v, %v", g, err)
	}
	return c
}

// ask sends a request and reads the first byte of the answer.
func ask(t *testing.T, c net.Conn, request []byte) (byte, error) {
	t.Helper()
	if _, err := c.Write(request); err != nil {
		t.Fatal(err)
	}
	return wire.ReadStatus(c)
}

func getRequest(key string) []byte { return wire.AppendText([]byte{wire.Get}, key) }

func putRequest(key string, flags byte, value []byte) []byte {
	return wire.AppendValue(append(wire.AppendText([]byte{wire.Put}, key), flags), value)
}

func get(t *testing.T, c net.Conn, key string) (string, error) {
	t.Helper()
	status, err := ask(t, c, getRequest(key))
	if err != nil || status == wire.Noop {
		return "", err
	}
	value, err := wire.ReadValue(c, wire.MaxValue)
	if err != nil {
		t.Fatal(err)
	}
	return string(value), nil
}

// closed reports whether the other end has closed a connection.
func closed(c net.Conn) bool {
	_, err := c.Read(make([]byte, 1))
	return errors.Is(err, io.EOF) || err != nil && !errors.Is(err, os.ErrDeadlineExceeded)
}

// directory makes a cache with an entry whose marker waits in the outbox.
func directory(t *testing.T, payloads ...string) (root, outbox string, ids []key.ID) {
	t.Helper()
	root = t.TempDir()
	s, err := store.Open(store.Options{Directory: root})
	if err != nil {
		t.Fatal(err)
	}
	outbox = s.Root() + "/v1/outbox/0123456789abcdef.team"
	os.MkdirAll(outbox, 0o700)
	for _, p := range payloads {
		b := key.NewBuilder()
		b.Add("n", []byte(p))
		k, err := b.Seal()
		if err != nil {
			t.Fatal(err)
		}
		if _, why := s.Put(store.Item{Key: k, Payload: []byte(p)}); why != store.None {
			t.Fatal(why)
		}
		mark(t, outbox, k.ID.String())
		ids = append(ids, k.ID)
	}
	return root, outbox, ids
}

func mark(t *testing.T, outbox, name string) {
	t.Helper()
	if err := os.WriteFile(outbox+"/"+name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
}
