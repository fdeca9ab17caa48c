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
	seen := map[string]bool{}
	for range 200 {
		one.spaces.mu.Lock()
		token := one.spaces.of["team"].token
		one.spaces.mu.Unlock()
		shared.mu.Lock()
		seen[string(shared.values[token+"-alive"])] = true
		shared.mu.Unlock()
		if len(seen) > mayMiss && !seen[""] {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Errorf("it has a claim, and shows %v", seen)
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
	one, _, _ := serving(t, time.Minute, on(shared), func(s *Server) { s.beat = 150 * time.Millisecond })
	two, _, _ := serving(t, time.Minute, on(&late{inMemory: shared, by: mayMiss * 150 * time.Millisecond}), func(s *Server) {
		s.beat = 150 * time.Millisecond
	})
	holder, other := dial(t, one), dial(t, two)
	if got := turn(t, holder, 0, false); got != wire.Mine {
		t.Fatal(got)
	}
	for range 40 {
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
