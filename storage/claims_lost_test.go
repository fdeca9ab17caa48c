package storage

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"jitcache/core/wire"
	"jitcache/storage/engine"
)

// Claims on a machine, or an engine, that is late or forgets.

// A pulse that is shown for a claim is not taken away because the claim is not there yet.
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
