// Finds out whether an engine refuses a conditional put, as claims need it.

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

// trial finds out whether the engine supports claims: whether it refuses a conditional put where
// something is, and removes values. Some engines ignore conditions without an error, and some
// credentials do not allow removal. A success counts for good. A failure may have another cause,
// an engine that was restarted in the middle of the trial or that evicts; so the trial is
// repeated, at longer and longer intervals.
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
	// A program that was told that there are no claims asks again after a minute. Longer
	// intervals would add to that minute; shorter ones help programs that start later.
	firstDoubt = time.Second
	lastDoubt  = time.Minute
	// trialPuts is how often a trial puts the value. An engine that obeys conditions refuses the
	// second put, or the third if it was restarted empty after the first.
	trialPuts = 3
)

// obeys reports whether the engine supports claims.
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
	obeys, err := c.refuses(ctx, c.valueName(c.token, "trial"+strconv.Itoa(t.n)))
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

// refuses puts the same value several times, and reports whether the engine has refused it. Each
// trial has a name of its own, because a failed one may have left its value.
func (c *claims) refuses(ctx context.Context, at engine.Name) (bool, error) {
	puts := trialPuts
	if !triesAgain {
		puts, at = 2, c.valueName(c.token, "trial")
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

// takesBack removes the value of a trial, and reports whether removal is allowed. Where it is
// not, a claim could not end, and others would wait for a compile that has failed.
func (c *claims) takesBack(ctx context.Context, at engine.Name) bool {
	_, err := c.server.engine.Remove(ctx, at)
	c.trial.stays = triesRemoval && (errors.Is(err, engine.ErrRefused) || errors.Is(err, engine.ErrDenied))
	return !c.trial.stays
}
