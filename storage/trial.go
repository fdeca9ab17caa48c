package storage

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"jitcache/storage/engine"
)

// trial is whether the engine puts nothing where there is something, if it is told so, and takes
// away what was put. Some engines do not know the one, and say nothing; some credentials do not
// allow the other. That it does is found out once. That it does not
// may be because it was started again in the middle of the trial, or evicts what it is given:
// so it is tried again, at longer and longer intervals.
type trial struct {
	obeys atomic.Bool // for good

	mu     sync.Mutex // held by who tries: the others wait for what that comes to
	n      int        // of its place
	stays  bool       // what is there may not be taken away
	wait   time.Duration
	next   time.Time // until then it is taken to obey nothing
	failed error     // of the last one that came to nothing,
	at     time.Time // and when
}

const (
	// A program that was told of no claims asks again after a minute: a longer wait would add to
	// that, and a shorter one is for the programs that come after it.
	firstDoubt = time.Second
	lastDoubt  = time.Minute
	// trialPuts is how often a trial puts something: one that obeys refuses the second, and the
	// third if it was started again, with nothing, after the first.
	trialPuts = 3
)

// obeys reports whether there may be claims.
func (c *claims) obeys() (bool, error) {
	t := &c.trial
	if t.obeys.Load() {
		return true, nil
	}
	asked := time.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.obeys.Load():
		return true, nil
	case !c.server.engine.Atomic() || time.Now().Before(t.next):
		return false, nil
	case t.failed != nil && asked.Before(t.at) && triesAgain:
		return false, t.failed
	}
	if !t.stays {
		t.n++
	}
	ctx, cancel := c.server.within()
	defer cancel()
	obeys, err := c.refuses(ctx, c.name(c.token, "trial"+strconv.Itoa(t.n)))
	switch {
	case errors.Is(err, engine.ErrRefused): // as some do who know no conditions
		c.server.state.saw(err)
	case err != nil:
		t.failed, t.at = err, time.Now()
		return false, err
	case obeys:
		t.obeys.Store(true)
		return true, nil
	}
	t.wait = min(max(2*t.wait, c.server.doubts), lastDoubt)
	t.next = time.Now().Add(t.wait)
	if !triesAgain {
		t.next = t.next.AddDate(1, 0, 0)
	}
	return false, nil
}

// refuses puts the same again and again, and reports whether that was refused. Each trial has a
// place of its own: one that has failed may have put something at its, which is taken away.
func (c *claims) refuses(ctx context.Context, at engine.Name) (bool, error) {
	puts := trialPuts
	if !triesAgain {
		puts, at = 2, c.name(c.token, "trial")
	}
	for n := range puts {
		stored, err := c.server.engine.Put(ctx, at, []byte("1"), false)
		if err != nil {
			if triesAgain && !errors.Is(err, engine.ErrRefused) {
				go c.withdraw(&claim{of: c, chain: []link{{at, "1"}}})
			}
			return false, err
		}
		if !stored {
			return c.takesBack(ctx, at) && n > 0, nil
		}
	}
	c.takesBack(ctx, at)
	return false, nil
}

// takesBack ends a trial, and reports whether that may be done. Where nothing may be taken away a
// claim does not end, and who waits for a compile that has failed waits for nothing.
func (c *claims) takesBack(ctx context.Context, at engine.Name) bool {
	_, err := c.server.engine.Remove(ctx, at)
	c.trial.stays = triesRemoval && (errors.Is(err, engine.ErrRefused) || errors.Is(err, engine.ErrDenied))
	return !c.trial.stays
}
