// One of all clients of all helpers has a claim.

package storage

import (
	"context"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"jitcache/core/wire"
	"jitcache/storage/engine"
)

const claimed = "jitcache/1/team/" + "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// on makes helpers share an engine, and beat fast.
func on(e engine.Engine) func(*Server) {
	return func(s *Server) {
		s.engine, s.state.probe, s.beat = e, e.Probe, 50*time.Millisecond
	}
}

// turn asks for a claim, once.
func turn(t *testing.T, c net.Conn, wait time.Duration, waited bool) byte {
	t.Helper()
	request := wire.AppendSize(wire.AppendText([]byte{wire.Claim}, claimed), uint64(wait/time.Millisecond))
	request = append(request, 0)
	if waited {
		request[len(request)-1] = 1
	}
	if _, err := ask(t, c, request); err != nil {
		t.Error(err)
		return wire.Nobodys
	}
	b, err := wire.ReadByte(c)
	if err != nil {
		t.Error(err)
	}
	return b
}

// left returns what an engine still has, but for pulses.
func left(e *inMemory) (names []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for name := range e.values {
		if !strings.HasSuffix(name, "-alive") {
			names = append(names, name)
		}
	}
	return names
}

// witness is an engine that knows for how long the pulse of a helper has stood still there.
type witness struct {
	*inMemory
	seen  sync.Mutex
	shown map[string]time.Time // by the name of a pulse, when it was put
	still time.Duration        // the longest that one has stood
}

func (w *witness) Put(ctx context.Context, n engine.Name, value []byte, overwrite bool) (bool, error) {
	if name := n.Parts[len(n.Parts)-1]; strings.HasSuffix(name, "-alive") {
		w.seen.Lock()
		defer w.seen.Unlock()
		w.note(name)
		w.shown[name] = time.Now()
	}
	return w.inMemory.Put(ctx, n, value, overwrite)
}

func (w *witness) Remove(ctx context.Context, n engine.Name) (bool, error) {
	if name := n.Parts[len(n.Parts)-1]; strings.HasSuffix(name, "-alive") {
		w.seen.Lock()
		defer w.seen.Unlock()
		w.note(name)
		delete(w.shown, name)
	}
	return w.inMemory.Remove(ctx, n)
}

func (w *witness) note(name string) {
	if at, ok := w.shown[name]; ok {
		w.still = max(w.still, time.Since(at))
	}
}

// longest returns for how long the pulse of any helper has stood still by now.
func (w *witness) longest() time.Duration {
	w.seen.Lock()
	defer w.seen.Unlock()
	for name := range w.shown {
		w.note(name)
	}
	return w.still
}

// A helper that this machine has kept from showing its pulse is taken for dead, and two have the
// claim: that is as it must be. The engine knows whether that has happened.
func TestOneOfAllClientsOfAllHelpersHasAClaimAtATime(t *testing.T) {
	shared := &witness{inMemory: &inMemory{values: map[string][]byte{}}, shown: map[string]time.Time{}}
	var holding, had atomic.Int32
	var group sync.WaitGroup
	for range 4 {
		socket, _, _ := serving(t, time.Minute, on(shared))
		for range 8 {
			group.Go(func() {
				for waited := false; ; {
					c := dial(t, socket)
					switch turn(t, c, 20*time.Millisecond, waited) {
					case wire.Theirs:
						waited = true
					case wire.Over:
						waited = false
					case wire.Mine:
						if holding.Add(1) != 1 {
							if still := shared.longest(); still < mayMiss*50*time.Millisecond {
								t.Errorf("two have it, and no pulse stood still for more than %v", still)
							} else {
								t.Logf("two have it: this machine has let a pulse stand still for %v", still)
							}
						}
						time.Sleep(time.Millisecond)
						holding.Add(-1)
						had.Add(1)
						c.Close()
						return
					default:
						t.Error("nobody's")
						return
					}
					c.Close()
				}
			})
		}
	}
	group.Wait()
	if had.Load() != 32 {
		t.Errorf("%d of 32 had it", had.Load())
	}
	for range 500 {
		if len(left(shared.inMemory)) == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%v are left", left(shared.inMemory))
}

//jitcache:control anyholder
func TestWhoWaitsIsToldWhenAnotherMachineHasTheClaim(t *testing.T) {
	shared := &inMemory{values: map[string][]byte{}}
	var clients []net.Conn
	for range 3 {
		socket, _, _ := serving(t, time.Minute, on(shared))
		clients = append(clients, dial(t, socket))
	}
	first, second, waits := clients[0], clients[1], clients[2]
	if got := turn(t, first, 0, false); got != wire.Mine {
		t.Fatal(got)
	}
	if got := turn(t, waits, 0, false); got != wire.Theirs {
		t.Fatal(got)
	}
	first.Close()
	for began := time.Now(); turn(t, second, 0, false) != wire.Mine; {
		if time.Since(began) > time.Minute {
			t.Fatal("the first one's claim does not end")
		}
	}
	if got := turn(t, waits, time.Minute, true); got != wire.Over {
		t.Errorf("%d: the first one has ended", got)
	}
	if got := turn(t, waits, 0, false); got != wire.Theirs {
		t.Errorf("%d: the second one has it", got)
	}
	if got := turn(t, waits, 100*time.Millisecond, true); got != wire.Theirs {
		t.Errorf("%d: the second one still has it", got)
	}
}

//jitcache:control noheirs
func TestClaimOfAHelperThatIsDeadIsTakenByOneOfAllThatWait(t *testing.T) {
	shared := &inMemory{values: map[string][]byte{}}
	// A helper that has died with a claim, and so has the one that took it over.
	for range 2 {
		var dead *Server
		socket, _, _ := serving(t, time.Minute, on(shared), func(s *Server) { dead = s })
		c, began := dial(t, socket), time.Now()
		for waited := false; ; waited = true {
			got := turn(t, c, 100*time.Millisecond, waited)
			if got == wire.Mine {
				break
			} else if got != wire.Theirs || time.Since(began) > time.Minute {
				t.Fatal("it is not taken over")
			}
		}
		dead.spaces.mu.Lock()
		for _, s := range dead.spaces.of {
			s.beat.mu.Lock() // for good: it shows no pulse any more
		}
		dead.spaces.mu.Unlock()
	}
	began := time.Now()
	var got atomic.Int32
	var group sync.WaitGroup
	for range 6 {
		socket, _, _ := serving(t, time.Minute, on(shared))
		group.Go(func() {
			for waited := false; time.Since(began) < 2*time.Second; waited = true {
				c := dial(t, socket)
				if turn(t, c, 50*time.Millisecond, waited) == wire.Mine {
					if took := time.Since(began); took > 5*mayMiss*50*time.Millisecond {
						t.Errorf("it took %v", took)
					}
					got.Add(1)
					return // and keeps the connection
				}
				c.Close()
			}
		})
	}
	group.Wait()
	if got.Load() != 1 {
		t.Errorf("%d have it", got.Load())
	}
}

func TestHolderThatIsSlowKeepsItsClaimWhileItsHelperLives(t *testing.T) {
	shared := &inMemory{values: map[string][]byte{}}
	one, _, _ := serving(t, 100*time.Millisecond, on(shared)) // idle soon, but for the claim
	two, _, _ := serving(t, time.Minute, on(shared))
	holder, other := dial(t, one), dial(t, two)
	if got := turn(t, holder, 0, false); got != wire.Mine {
		t.Fatal(got)
	}
	for began := time.Now(); time.Since(began) < 3*mayMiss*50*time.Millisecond; {
		if got := turn(t, other, 30*time.Millisecond, true); got != wire.Theirs {
			t.Fatalf("%d after %v", got, time.Since(began))
		}
	}
	holder.Close()
	for range 100 {
		if got := turn(t, other, 100*time.Millisecond, true); got == wire.Over {
			return
		}
	}
	t.Error("it does not end")
}

//jitcache:control earlyend
func TestClaimEndsWhenTheResultIsSentAndNotBefore(t *testing.T) {
	shared := &inMemory{values: map[string][]byte{}}
	_, outbox, ids := directory(t, "result")
	hold := make(chan bool)
	slow := &gate{shared, ids[0].String(), hold}
	one, _, _ := serving(t, time.Minute, on(slow))
	two, _, _ := serving(t, time.Minute, on(shared))
	holder, other := dial(t, one), dial(t, two)
	if got := turn(t, holder, 0, false); got != wire.Mine {
		t.Fatal(got)
	}
	if status, err := ask(t, holder, wire.AppendValue([]byte{wire.Done}, []byte(outbox))); status != wire.OK || err != nil {
		t.Fatal(status, err)
	}
	holder.Close()
	for range 5 {
		if got := turn(t, other, 20*time.Millisecond, true); got != wire.Theirs {
			t.Fatalf("%d before it is sent", got)
		}
	}
	close(hold)
	for range 200 {
		if got := turn(t, other, 20*time.Millisecond, true); got == wire.Over {
			if !slices.Contains(left(shared), ids[0].String()) {
				t.Error("it is not there")
			}
			return
		}
	}
	t.Error("it does not end")
}

// gate is an engine that keeps a value back, all of them if it has no name.
type gate struct {
	*inMemory
	name string
	open chan bool
}

func (g *gate) Put(ctx context.Context, n engine.Name, value []byte, overwrite bool) (bool, error) {
	if g.name == "" || n.Parts[len(n.Parts)-1] == g.name {
		<-g.open
	}
	return g.inMemory.Put(ctx, n, value, overwrite)
}

// disobedient is an engine that puts whatever it is given.
type disobedient struct{ *inMemory }

func (d *disobedient) Put(ctx context.Context, n engine.Name, value []byte, _ bool) (bool, error) {
	return d.inMemory.Put(ctx, n, value, true)
}

func TestEngineThatIgnoresConditionsHasNoClaims(t *testing.T) {
	e := &inMemory{values: map[string][]byte{}}
	socket, _, _ := serving(t, time.Minute, on(&disobedient{e}))
	if got := turn(t, dial(t, socket), 0, false); got != wire.Nobodys {
		t.Error(got)
	}
	if names := left(e); len(names) != 0 {
		t.Errorf("%v are left", names)
	}
}

func TestClaimThatSomebodyElseHasPutThereSinceStays(t *testing.T) {
	shared := &inMemory{values: map[string][]byte{}}
	socket, _, _ := serving(t, time.Minute, on(shared))
	c := dial(t, socket)
	if got := turn(t, c, 0, false); got != wire.Mine {
		t.Fatal(got)
	}
	name := claimed[len(claimed)-64:] + "-claim"
	shared.mu.Lock()
	shared.values[name] = []byte("another")
	shared.mu.Unlock()
	c.Close()
	again := dial(t, socket)
	for range 100 { // until it has ended
		if turn(t, again, 20*time.Millisecond, true) != wire.Theirs {
			break
		}
	}
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if string(shared.values[name]) != "another" {
		t.Error("it was taken away")
	}
}

// Whatever the compile takes, from a fifth of a second to a quarter of an hour.
func TestWaitIsLittleLongerThanTheCompile(t *testing.T) {
	for compile := 200 * time.Millisecond; compile < 15*time.Minute; compile = compile * 21 / 20 {
		for range 20 {
			var waited time.Duration
			looks := 0
			for waited < compile {
				waited += pace(waited)
				looks++
			}
			if waited > compile*116/100 {
				t.Fatalf("a wait of %v for a compile of %v", waited, compile)
			}
			if most := 60 + int(compile/(3*time.Second)); looks > most {
				t.Fatalf("%d looks in %v", looks, compile)
			}
		}
	}
}
