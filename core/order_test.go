// Memory and disk agree, whatever changes an entry meanwhile.

package core

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"jitcache/core/key"
	"jitcache/core/store"
)

// The order of memory and disk: after a call that replaces or removes an entry has
// returned, no later lookup returns the old entry.

// changes are the calls after which the old entry must be gone, each with the result of
// a lookup then.
var changes = map[string]struct {
	change func(c *Cache, k *key.Key)
	then   string
}{
	"remove":            {func(c *Cache, k *key.Key) { c.Remove(&k.ID) }, ""},
	"replace":           {func(c *Cache, k *key.Key) { c.Put(k, []byte("new"), "", true) }, "new"},
	"clear":             {func(c *Cache, _ *key.Key) { c.Clear(context.Background(), "", nil) }, ""},
	"clear of the kind": {func(c *Cache, k *key.Key) { c.Clear(context.Background(), k.Kind, nil) }, ""},
}

// atFirstClose stops the next lookup of another goroutine after it has read the file, and
// before it has put it into memory. It returns a channel that is closed then, and a
// function that lets the lookup go on.
func atFirstClose(t *testing.T) (read <-chan struct{}, goOn func()) {
	t.Helper()
	there, wait := make(chan struct{}), make(chan struct{})
	var first atomic.Bool
	store.Fault = func(op store.Op, _ string) (syscall.Errno, int) {
		if op == store.OpClose && !first.Swap(true) {
			close(there)
			<-wait
		}
		return 0, -1
	}
	t.Cleanup(func() { store.Fault = nil })
	return there, sync.OnceFunc(func() { close(wait) })
}

//jitcache:control noorder
func TestWhatWasReadBeforeAChangeIsNotKeptAfterIt(t *testing.T) {
	for name, c := range changes {
		t.Run(name, func(t *testing.T) {
			o := in(t)
			k := testKey(t, "a", name)
			open(t, o).Put(k, []byte("old"), "", false)
			cache := open(t, o)
			read, goOn := atFirstClose(t)
			done := make(chan string)
			go func() {
				text, _ := get(t, cache, k)
				done <- text
			}()
			<-read
			c.change(cache, k)
			goOn()
			if got := <-done; got != "old" {
				t.Errorf("the lookup that began before gives %q", got)
			}
			if got, _ := get(t, cache, k); got != c.then {
				t.Errorf("a lookup that began afterwards gives %q, want %q", got, c.then)
			}
		})
	}
}

// The same the other way round: a put that is slow to return must not bring its entry back
// if it was removed meanwhile.
//
//jitcache:control noorder
func TestPutThatEndsAfterARemoveIsNotKept(t *testing.T) {
	for name, c := range changes {
		t.Run(name, func(t *testing.T) {
			k := testKey(t, "a", name)
			cache := open(t, in(t))
			other := open(t, Options{Values: map[string]string{"directory": cache.store.Root(), "memory_size": "0"}})
			there, wait := make(chan struct{}), make(chan struct{})
			var renamed, stood atomic.Bool
			store.Fault = func(op store.Op, _ string) (syscall.Errno, int) {
				switch {
				case op == store.OpRename:
					renamed.Store(true)
				case op == store.OpClose && renamed.Load() && !stood.Swap(true):
					close(there)
					<-wait
				}
				return 0, -1
			}
			t.Cleanup(func() { store.Fault = nil })
			done := make(chan struct{})
			go func() {
				cache.Put(k, []byte("old"), "", false)
				close(done)
			}()
			<-there
			if got, _ := get(t, other, k); got != "old" {
				t.Fatalf("the put stands still, and its entry is %q", got)
			}
			c.change(cache, k)
			close(wait)
			<-done
			if got, _ := get(t, cache, k); got != c.then {
				t.Errorf("a lookup gives %q, want %q", got, c.then)
			}
		})
	}
}

// register is a key with a record of its changes: each version that is put is higher than
// those before.
type register struct {
	key   *key.Key
	last  atomic.Int64 // the last version of which a put has begun
	floor atomic.Int64 // no lookup that begins now may return a lower version
}

func (r *register) raise(to int64) {
	for {
		was := r.floor.Load()
		if to <= was || r.floor.CompareAndSwap(was, to) {
			return
		}
	}
}

// change replaces or removes the entry. One goroutine at a time calls it; plain puts may
// run at the same time.
func (r *register) change(c *Cache, how int) {
	n := r.last.Add(1)
	text := []byte(strconv.FormatInt(n, 10))
	switch how {
	case 0:
		c.Remove(&r.key.ID)
		r.raise(n) // n was never put: what there was is less
	case 1:
		c.Clear(context.Background(), "", nil)
		r.raise(n)
	default:
		if c.Put(r.key, text, "", true) == store.None {
			r.raise(n)
		}
	}
}

func (r *register) look(t *testing.T, c *Cache, how string) {
	floor := r.floor.Load()
	text, why := get(t, c, r.key)
	if why != store.None {
		return
	}
	if n, err := strconv.ParseInt(text, 10, 64); err != nil || n < floor {
		t.Errorf("%s: version %q, after %d", how, text, floor)
	}
}

// Readers beside writers, with a tier that has room for all entries, and one that has room
// for few: an entry that a call has replaced or removed is never seen after the call.
//
//jitcache:control noorder
func TestNoLookupGivesWhatWasReplacedOrRemovedBeforeItBegan(t *testing.T) {
	for _, memory := range []string{"1M", "2000"} {
		t.Run(memory, func(t *testing.T) {
			o := in(t)
			o.Values["memory_size"] = memory
			c := open(t, o)
			registers := make([]*register, 6)
			for i := range registers {
				registers[i] = &register{key: testKey(t, "n", strconv.Itoa(i))}
			}
			took := 2 * time.Second
			if testing.Short() {
				took = 300 * time.Millisecond
			}
			end := time.Now().Add(took)
			var wg sync.WaitGroup
			for i, r := range registers {
				wg.Go(func() {
					rnd := rand.New(rand.NewPCG(uint64(i), 7))
					for time.Now().Before(end) {
						r.change(c, rnd.IntN(8))
						if rnd.IntN(4) == 0 {
							time.Sleep(time.Duration(rnd.IntN(200)) * time.Microsecond)
						}
					}
				})
			}
			for range 8 {
				wg.Go(func() {
					for n := 0; time.Now().Before(end); n++ {
						registers[n%len(registers)].look(t, c, "during the changes")
					}
				})
			}
			wg.Wait()
		})
	}
}

// When all calls have returned, memory and disk agree, whichever call was the last.
//
//jitcache:control noorder
func TestMemoryAndDiskAgreeWhenConcurrentChangesHaveEnded(t *testing.T) {
	o := in(t)
	c := open(t, o)
	o.Values["memory_size"] = "0"
	disk := open(t, o)
	rounds := 400
	if testing.Short() {
		rounds = 60
	}
	for n := range rounds {
		k := testKey(t, "n", strconv.Itoa(n%5))
		var wg sync.WaitGroup
		for i := range 4 {
			wg.Go(func() {
				switch (n + i) % 5 {
				case 0:
					c.Remove(&k.ID)
				case 1, 2:
					c.Put(k, fmt.Appendf(nil, "%d of %d", i, n), "", true)
				case 3:
					c.Put(k, fmt.Appendf(nil, "%d of %d", i, n), "", false)
				case 4:
					get(t, c, k)
				}
			})
		}
		wg.Wait()
		there, _ := get(t, disk, k)
		if got, _ := get(t, c, k); got != there {
			t.Fatalf("round %d: memory gives %q, the disk has %q", n, got, there)
		}
	}
}
