// Claims and pulses that are late, lost or unanswered.

package storage

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"jitcache/core/key"
	"jitcache/core/wire"
	"jitcache/storage/engine"
)

// Claims on a machine, or an engine, that is late or forgets.

// A pulse that is shown for a claim is not taken away because the claim is not there yet.
//
//jitcache:control latebeat
func TestHolderWhoseClaimTookLongToPutHasAPulse(t *testing.T) {
	shared := &inMemory{values: map[string][]byte{}}
	hold := make(chan bool)
	slow := &gate{shared, claimed[len(claimed)-64:] + "-claim", hold}
	var one *Server
	socket, _, _ := serving(t, time.Minute, on(slow), func(s *Server) { one = s })
	time.AfterFunc(3*mayMiss*50*time.Millisecond, func() { close(hold) })
	if got := turn(t, dial(t, socket), 0, false); got != wire.Mine {
		t.Fatal(got)
	}
	for seen := map[string]bool{}; len(seen) <= mayMiss; time.Sleep(20 * time.Millisecond) {
		one.spaces.mu.Lock()
		token := one.spaces.of["team"].token
		one.spaces.mu.Unlock()
		shared.mu.Lock()
		pulse := string(shared.values[token+"-alive"])
		shared.mu.Unlock()
		if pulse == "" {
			t.Fatal("it has a claim, and no pulse")
		}
		seen[pulse] = true
	}
}

// late is an engine whose answers about pulses reach a helper late, every second one: a helper that
// the machine, or SIGSTOP, has kept from reading them.
type late struct {
	*inMemory
	asked atomic.Int32
	by    time.Duration
}

func (l *late) Get(ctx context.Context, n engine.Name, limit int64) ([]byte, error) {
	value, err := l.inMemory.Get(ctx, n, limit)
	if strings.HasSuffix(n.Parts[len(n.Parts)-1], "-alive") && l.asked.Add(1)%2 == 0 {
		time.Sleep(l.by)
	}
	return value, err
}

//jitcache:control lateread
func TestHolderIsNotDeadBecauseItsPulseIsReadLate(t *testing.T) {
	shared := &inMemory{values: map[string][]byte{}}
	const beat = 300 * time.Millisecond // no machine of tests lets a process stand still for four of them
	slowly := func(s *Server) { s.beat = beat }
	read := &late{inMemory: shared, by: mayMiss * beat}
	one, _, _ := serving(t, time.Minute, on(shared), slowly)
	two, _, _ := serving(t, time.Minute, on(read), slowly)
	holder, other := dial(t, one), dial(t, two)
	if got := turn(t, holder, 0, false); got != wire.Mine {
		t.Fatal(got)
	}
	for read.asked.Load() < 5 { // twice late
		if got := turn(t, other, 30*time.Millisecond, true); got != wire.Theirs {
			t.Fatalf("%d: the holder lives", got)
		}
	}
}

//jitcache:control lostclaims
func TestClaimThatTheEngineHasLostIsWaitedForNoLonger(t *testing.T) {
	shared := &inMemory{values: map[string][]byte{}}
	one, _, _ := serving(t, time.Minute, on(shared))
	two, _, _ := serving(t, time.Minute, on(shared))
	holder, other := dial(t, one), dial(t, two)
	if got := turn(t, holder, 0, false); got != wire.Mine {
		t.Fatal(got)
	}
	if got := turn(t, other, 0, false); got != wire.Theirs {
		t.Fatal(got)
	}
	shared.mu.Lock()
	clear(shared.values) // claim and pulse, as an engine does that evicts
	shared.mu.Unlock()
	if got := turn(t, other, time.Second, true); got != wire.Over {
		t.Errorf("%d: there is no claim", got)
	}
	if got := turn(t, other, 0, false); got != wire.Mine {
		t.Errorf("%d: nobody else has it", got)
	}
}

// unanswered is an engine that does once what it is told, and whose answer is lost.
type unanswered struct {
	*inMemory
	name string
	lost atomic.Bool
}

func (u *unanswered) Put(ctx context.Context, n engine.Name, value []byte, overwrite bool) (bool, error) {
	stored, err := u.inMemory.Put(ctx, n, value, overwrite)
	if n.Parts[len(n.Parts)-1] == u.name && stored && !u.lost.Swap(true) {
		return false, context.DeadlineExceeded
	}
	return stored, err
}

//jitcache:control orphanclaims
func TestClaimWhoseAnswerWasLostIsNobodys(t *testing.T) {
	shared := &inMemory{values: map[string][]byte{}}
	other := strings.Replace(claimed, "0123", "abcd", 1)
	one, _, _ := serving(t, time.Minute, on(&unanswered{inMemory: shared, name: other[len(other)-64:] + "-claim"}))
	two, _, _ := serving(t, time.Minute, on(shared))
	holder, asks, waits := dial(t, one), dial(t, one), dial(t, two)
	if got := turn(t, holder, 0, false); got != wire.Mine { // so its helper has a pulse
		t.Fatal(got)
	}
	request := append(wire.AppendSize(wire.AppendText([]byte{wire.Claim}, other), 0), 0)
	if _, err := ask(t, asks, request); err == nil {
		t.Fatal("the answer is not lost")
	}
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		if _, err := ask(t, waits, request); err != nil {
			t.Fatal(err)
		}
		if b, _ := wire.ReadByte(waits); b == wire.Mine {
			return
		}
		if time.Since(began) > 10*time.Second {
			t.Fatal("who asks waits for nobody")
		}
	}
}

// blind is an engine that shows no pulses while it hides them.
type blind struct {
	*inMemory
	hides atomic.Bool
}

func (b *blind) Get(ctx context.Context, n engine.Name, limit int64) ([]byte, error) {
	if strings.HasSuffix(n.Parts[len(n.Parts)-1], "-alive") && b.hides.Load() {
		return nil, engine.ErrNotFound
	}
	return b.inMemory.Get(ctx, n, limit)
}

// A helper has no pulse between two claims. Whoever saw that has not seen that it died with
// the second.
//
//jitcache:control oldabsence
func TestHolderIsNotDeadBecauseItsPulseWasMissedOnceLongAgo(t *testing.T) {
	shared := &inMemory{values: map[string][]byte{}}
	read := &blind{inMemory: shared}
	one, _, _ := serving(t, time.Minute, on(shared))
	two, _, _ := serving(t, time.Minute, on(read))
	for range 2 {
		holder, other := dial(t, one), dial(t, two)
		for turn(t, holder, time.Second, false) != wire.Mine {
			if t.Failed() {
				return
			}
		}
		read.hides.Store(true)
		if got := turn(t, other, 0, false); got != wire.Theirs {
			t.Fatalf("%d: the holder lives", got)
		}
		read.hides.Store(false)
		holder.Close()
		time.Sleep(2 * mayMiss * 50 * time.Millisecond)
	}
}

// Of the claims after that of a dead holder the first place is taken away first. Whoever has
// read it before, and puts the next one after, has nothing.
//
//jitcache:control blindheirs
func TestHeirOfAClaimThatIsTakenAwayMeanwhileHasNone(t *testing.T) {
	shared := &inMemory{values: map[string][]byte{}}
	first := claimed[len(claimed)-64:] + "-claim"
	shared.values[first] = []byte("nobody") // as long ago as you like
	digits := key.ID(key.Sum(key.AppendTexts(nil, claimed[len(claimed)-64:], "nobody"))).String()
	late := &gate{shared, digits + "-claim", make(chan bool)}
	one, _, _ := serving(t, time.Minute, on(shared))
	two, _, _ := serving(t, time.Minute, on(late))
	three, _, _ := serving(t, time.Minute, on(shared))
	heir, other, third := dial(t, one), dial(t, two), dial(t, three)
	if got := turn(t, heir, 0, false); got != wire.Mine {
		t.Fatal(got)
	}
	came := make(chan byte)
	go func() { came <- turn(t, other, 0, false) }()
	time.Sleep(100 * time.Millisecond) // so that it has read the first place
	heir.Close()
	for began := time.Now(); turn(t, third, 0, false) != wire.Mine; time.Sleep(time.Millisecond) {
		if time.Since(began) > 10*time.Second {
			t.Fatal("the claim does not end")
		}
	}
	close(late.open)
	if got := <-came; got == wire.Mine {
		t.Error("two have it")
	}
	for began := time.Now(); len(left(shared)) > 1; time.Sleep(time.Millisecond) {
		if time.Since(began) > 10*time.Second {
			t.Fatalf("%v are left", left(shared))
		}
	}
}

// A helper that may have put a claim, and was not told so, takes it back. Until then it is no
// claim of a dead one, of which the next client would be the heir.
//
//jitcache:control ownheirs
func TestClaimThatIsBeingTakenBackHasNoHeir(t *testing.T) {
	shared := &inMemory{values: map[string][]byte{}}
	kept := &keeper{unanswered: &unanswered{inMemory: shared, name: claimed[len(claimed)-64:] + "-claim"}, open: make(chan bool)}
	one, _, _ := serving(t, time.Minute, on(kept))
	request := append(wire.AppendSize(wire.AppendText([]byte{wire.Claim}, claimed), 0), 0)
	if _, err := ask(t, dial(t, one), request); err == nil {
		t.Fatal("the answer is not lost")
	}
	again := func() byte { // which is told that the engine is down until it has answered
		c := dial(t, one)
		if _, err := ask(t, c, request); err != nil {
			return wire.Nobodys
		}
		b, _ := wire.ReadByte(c)
		return b
	}
	until := func(want byte) {
		for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
			switch got := again(); {
			case got == want:
				return
			case got == wire.Mine:
				t.Fatal("it has a claim that goes when the first one is taken back")
			case time.Since(began) > 10*time.Second:
				t.Fatalf("%d, and not %d", got, want)
			}
		}
	}
	until(wire.Theirs)
	close(kept.open)
	until(wire.Mine)
}

// keeper is an unanswered that removes nothing for a while.
type keeper struct {
	*unanswered
	open chan bool
}

func (k *keeper) Remove(ctx context.Context, n engine.Name) (bool, error) {
	if n.Parts[len(n.Parts)-1] == k.name {
		<-k.open
	}
	return k.inMemory.Remove(ctx, n)
}
