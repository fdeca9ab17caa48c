// How a helper finds out whether an engine has claims.

package storage

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"jitcache/core/wire"
	"jitcache/storage/engine"
)

// tried is an engine to which something happens when the first trial of conditions puts
// something: what before returns is the error of that, and after comes when it is there.
type tried struct {
	*inMemory
	did    atomic.Int32
	before func(ctx context.Context, n int32) error
	after  func(n int32) error
}

func (e *tried) Put(ctx context.Context, n engine.Name, value []byte, overwrite bool) (stored bool, err error) {
	if overwrite || !strings.Contains(n.Parts[len(n.Parts)-1], "-trial") {
		return e.inMemory.Put(ctx, n, value, overwrite)
	}
	count := e.did.Add(1)
	if e.before != nil {
		err = e.before(ctx, count)
	}
	if err == nil {
		stored, err = e.inMemory.Put(ctx, n, value, false)
	}
	if err == nil && e.after != nil {
		err = e.after(count)
	}
	return stored && err == nil, err
}

// empties makes an engine one that was started again, with nothing.
func (e *inMemory) empties() {
	e.mu.Lock()
	defer e.mu.Unlock()
	clear(e.values)
}

//jitcache:control onetrial
func TestEngineThatIsStartedAgainInTheMiddleOfTheTrialHasClaims(t *testing.T) {
	e := &tried{inMemory: &inMemory{values: map[string][]byte{}}}
	e.after = func(n int32) error {
		if n == 1 {
			e.empties()
		}
		return nil
	}
	socket, _, _ := serving(t, time.Minute, on(e))
	if got := turn(t, dial(t, socket), 0, false); got != wire.Mine {
		t.Errorf("%d: nobody has it", got)
	}
}

//jitcache:control onetrial
func TestTrialThatHasFailedSaysNothingOfTheNextOne(t *testing.T) {
	for lost := int32(1); lost <= 2; lost++ { // the answer to one of its requests
		e := &tried{inMemory: &inMemory{values: map[string][]byte{}}}
		e.after = func(n int32) error {
			if n == lost {
				return context.DeadlineExceeded
			}
			return nil
		}
		socket, _, _ := serving(t, time.Minute, on(e))
		request := append(wire.AppendSize(wire.AppendText([]byte{wire.Claim}, claimed), 0), 0)
		if _, err := ask(t, dial(t, socket), request); err == nil {
			t.Error("the answer is not lost")
		}
		c := dial(t, socket)
		for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
			if _, err := ask(t, c, request); err == nil { // it is up again
				break
			} else if time.Since(began) > 30*time.Second {
				t.Fatal(err)
			}
		}
		if got, _ := wire.ReadByte(c); got != wire.Mine {
			t.Errorf("%d after the answer to request %d was lost: nobody has it", got, lost)
		}
		c.Close()
		for began := time.Now(); len(left(e.inMemory)) > 0; time.Sleep(10 * time.Millisecond) {
			if time.Since(began) > 30*time.Second {
				t.Fatalf("%v are left", left(e.inMemory))
			}
		}
	}
}

//jitcache:control onetrial
func TestEngineThatHasObeyedNoConditionsIsTriedAgainAndNotEachTime(t *testing.T) {
	e := &tried{inMemory: &inMemory{values: map[string][]byte{}}}
	var keeps atomic.Bool // it evicts at once what it is given, until it has room
	e.after = func(int32) error {
		if !keeps.Load() {
			e.empties()
		}
		return nil
	}
	socket, _, _ := serving(t, time.Minute, on(e), func(s *Server) { s.doubts = 300 * time.Millisecond })
	c := dial(t, socket)
	if got := turn(t, c, 0, false); got != wire.Nobodys {
		t.Fatal(got)
	}
	did := e.did.Load()
	keeps.Store(true)
	for began := time.Now(); turn(t, c, 0, false) != wire.Mine; time.Sleep(time.Millisecond) {
		if time.Since(began) > 30*time.Second {
			t.Fatal("it keeps what it is given, and has no claims")
		}
	}
	if n := e.did.Load() - did; n != 2 {
		t.Errorf("%d requests of trials until it was seen to obey", n)
	}
}

//jitcache:control onetrial
func TestClientsWaitForOneTrialAndNotForOneAfterTheOther(t *testing.T) {
	e := &tried{inMemory: &inMemory{values: map[string][]byte{}}}
	e.before = func(ctx context.Context, _ int32) error {
		<-ctx.Done()
		return ctx.Err()
	}
	socket, _, _ := serving(t, time.Minute, on(e), func(s *Server) { s.timeout = 500 * time.Millisecond })
	const clients = 40
	var group sync.WaitGroup
	for range clients {
		c := dial(t, socket)
		group.Go(func() {
			ask(t, c, append(wire.AppendSize(wire.AppendText([]byte{wire.Claim}, claimed), 0), 0))
		})
	}
	group.Wait()
	if n := e.did.Load(); n > clients/2 {
		t.Errorf("%d trials, each as long as a request may take, for %d clients", n, clients)
	}
}

func TestEngineThatRefusesConditionsHasNoClaimsAndGoesOn(t *testing.T) {
	e := &tried{inMemory: &inMemory{values: map[string][]byte{}}}
	e.before = func(context.Context, int32) error { return engine.ErrRefused }
	socket, _, _ := serving(t, time.Minute, on(e), func(s *Server) { s.doubts = time.Hour })
	c := dial(t, socket)
	for range 3 {
		if got := turn(t, c, 0, false); got != wire.Nobodys {
			t.Errorf("%d: there are no claims", got)
		}
	}
	if n := e.did.Load(); n != 1 {
		t.Errorf("it was tried %d times at once", n)
	}
	if got, err := get(t, dial(t, socket), claimed); got != "" || err != nil {
		t.Errorf("%q, %v: it has no such entry", got, err)
	}
}

// lasting is an engine that takes nothing away for these credentials.
type lasting struct {
	*inMemory
	denies atomic.Bool
}

func (l *lasting) Remove(ctx context.Context, n engine.Name) (bool, error) {
	if l.denies.Load() {
		return false, engine.ErrDenied
	}
	return l.inMemory.Remove(ctx, n)
}

// A claim there would not end, and a failed compile would be waited for.
//
//jitcache:control lastingclaims
func TestEngineThatTakesNothingAwayHasNoClaims(t *testing.T) {
	e := &lasting{inMemory: &inMemory{values: map[string][]byte{}}}
	e.denies.Store(true)
	socket, _, _ := serving(t, time.Minute, on(e), func(s *Server) { s.doubts = 10 * time.Millisecond })
	for range 3 {
		if got := turn(t, dial(t, socket), 0, false); got != wire.Nobodys {
			t.Errorf("%d: it would never end", got)
		}
		time.Sleep(50 * time.Millisecond)
	}
	if names := left(e.inMemory); len(names) != 1 {
		t.Errorf("%v are left", names)
	}
	e.denies.Store(false)
	for began := time.Now(); turn(t, dial(t, socket), 0, false) != wire.Mine; time.Sleep(10 * time.Millisecond) {
		if time.Since(began) > 10*time.Second {
			t.Fatal("what may be taken away by now is not found out")
		}
	}
}
