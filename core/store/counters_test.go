// Counters of several stores and threads add up.

package store

import (
	"context"
	"fmt"
	"sync"
	"testing"
)

func TestCountersOfTwoStoresAddUp(t *testing.T) {
	a := open(t)
	b := open(t, dir(a.Root()))
	a.Count([]byte("cubin"), Compiles, 3)
	b.CountHit(HitsDisk, []byte("cubin"), 5)
	b.CountHit(HitsDisk, []byte("native"), 7)
	b.Count([]byte("cubin"), MissCounter(Checksum), 2)
	b.CountRefused([]byte("cubin"), NoSpace)
	a.Flush()
	b.Flush()
	b.Flush()
	u := open(t, dir(a.Root())).Usage()
	c := u.Kinds["cubin"]
	if c[Compiles] != 3 || c[HitsDisk] != 1 || c[TimeSaved] != 5 || c[MissCounter(Checksum)] != 2 || c.Misses() != 2 ||
		c[RefusedCounter(NoSpace)] != 1 || u.Kinds["native"][HitsDisk] != 1 {
		t.Errorf("%v", u.Kinds)
	}
	if u.Refused != NoSpace || u.RefusedAt == 0 {
		t.Errorf("last refusal %v at %d", u.Refused, u.RefusedAt)
	}
	if err := a.Zero(context.Background()); err != nil {
		t.Fatal(err)
	}
	if u := open(t, dir(a.Root())).Usage(); len(u.Kinds) != 0 || u.Zeroed == 0 {
		t.Errorf("after zero: %v", u)
	}
}

func TestManyKindsShareTheLastSlot(t *testing.T) {
	s := open(t)
	for i := range 30 {
		s.Count(fmt.Appendf(nil, "kind-%d", i), Puts, 1)
	}
	s.Flush()
	u := open(t, dir(s.Root())).Usage()
	if len(u.Kinds) != maxKinds || u.Kinds[otherKind][Puts] != 30-maxKinds+1 {
		t.Errorf("%d kinds, other %d", len(u.Kinds), u.Kinds[otherKind][Puts])
	}
}

func TestCountersSurviveManyThreads(t *testing.T) {
	s := open(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 1000 {
				s.CountHit(HitsDisk, []byte("generic"), 1)
			}
			s.Flush()
		})
	}
	wg.Wait()
	s.Flush()
	if u := open(t, dir(s.Root())).Usage(); u.Kinds["generic"][HitsDisk] != 8000 {
		t.Errorf("%d hits", u.Kinds["generic"][HitsDisk])
	}
}
