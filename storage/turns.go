// Turns: how a helper gets the claim on a key, or waits for the one who has it.

package storage

import (
	"context"
	"crypto/rand"
	"errors"
	"math"
	"strconv"
	"strings"
	"time"

	"jitcache/core/key"
	"jitcache/core/wire"
	"jitcache/storage/engine"
)

// askForClaim asks for the claim on a key until the deadline; see wire.Claim for the answers. The
// claim is not nil if it is Mine.
func (c *claims) askForClaim(id string, until time.Time, waited bool) (turn byte, mine *claim, err error) {
	if obeys, err := c.obeys(); err != nil || !obeys {
		return wire.Nobodys, nil, err
	}
	for {
		c.mu.Lock()
		ended := c.ended
		c.mu.Unlock()
		turn, mine, next, err := c.tryClaim(id, waited)
		left := time.Until(until)
		if err != nil || turn != wire.Theirs || left <= 0 {
			return turn, mine, err
		}
		again := time.NewTimer(min(left, time.Until(next)))
		select {
		case <-ended:
		case <-again.C:
		}
		again.Stop()
	}
}

// tryClaim asks the engine once, unless this helper holds the key or has asked a moment ago. next is
// when asking again makes sense.
func (c *claims) tryClaim(id string, waited bool) (turn byte, mine *claim, next time.Time, err error) {
	c.mu.Lock()
	w := c.watched[id]
	switch now := time.Now(); {
	case c.held[id] != nil:
		c.mu.Unlock()
		return wire.Theirs, nil, now.Add(lastLook), nil
	case w == nil:
		if len(c.watched) >= most {
			clear(c.watched)
		}
		w = &watched{since: now}
		c.watched[id] = w
	case w.asking || now.Before(w.next):
		next = later(w.next, now.Add(firstLook))
		c.mu.Unlock()
		return wire.Theirs, nil, next, nil
	}
	w.asking = true
	c.mu.Unlock()

	ctx, cancel := c.server.within()
	turn, mine, dead, err := c.lookAtClaim(ctx, id, waited, &w.holder)
	cancel()

	c.mu.Lock()
	defer c.mu.Unlock()
	w.asking = false
	if mine != nil {
		c.held[id] = mine
		c.putting--
	}
	if err != nil || turn != wire.Theirs {
		delete(c.watched, id)
		return turn, mine, time.Time{}, err
	}
	now := time.Now()
	w.next = now.Add(pace(now.Sub(w.since)))
	if dead.Before(w.next) {
		w.next = dead
	}
	return turn, nil, w.next, nil
}

// most is how many keys, and how many other helpers, are remembered.
const most = 4096

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// pace returns how long to wait before the next look, with jitter.
func pace(waited time.Duration) time.Duration {
	d := min(max(waited/partOfWait, firstLook), lastLook)
	var b [1]byte
	rand.Read(b[:])
	return d*3/4 + d/2*time.Duration(b[0])/math.MaxUint8
}

// lookAtClaim looks at the claim on a key, and takes it if there is none or if its holder is dead. If
// the holder lives, dead is when it counts as dead unless its pulse changes. holder is the
// holder at the last look: a client that has waited for it is told that it has ended, even if
// another helper has the claim by now, whose result may not help this client.
func (c *claims) lookAtClaim(ctx context.Context, id string, waited bool, holder *string) (turn byte, mine *claim, dead time.Time, err error) {
	at := c.valueName(id, "claim")
	var chain []link
	for len(chain) < longestChain {
		if !waited || len(chain) > 0 {
			value, stored, err := c.putClaim(ctx, at)
			switch {
			case err != nil:
				return wire.Nobodys, nil, dead, err
			case stored:
				return c.heir(ctx, &claim{of: c, id: id, chain: append(chain, link{at, value})})
			}
		}
		value, err := c.server.engine.Get(ctx, at, most)
		switch {
		case errors.Is(err, engine.ErrNotFound) && !endsLost:
			return wire.Theirs, nil, dead, nil
		case errors.Is(err, engine.ErrNotFound):
			return wire.Over, nil, dead, nil
		case err != nil:
			return wire.Nobodys, nil, dead, err
		}
		if len(chain) == 0 && *holder == "" {
			*holder = string(value)
		}
		if waited && len(chain) == 0 && *holder != string(value) && tellsHolders {
			return wire.Over, nil, dead, nil
		}
		asked := time.Now() // and not when the answer is read, which may be late: a pulse has changed meanwhile
		if dead, err = c.deadAt(ctx, string(value)); err != nil || !looksAlive || seenAt(asked).Before(dead) {
			return wire.Theirs, nil, dead, err
		}
		chain = append(chain, link{at, string(value)})
		at = c.valueName(key.ID(key.Sum(key.AppendTexts(nil, id, string(value)))).String(), "claim")
	}
	return wire.Nobodys, nil, dead, nil
}

// heir returns the claim that was put a moment ago. If it succeeds a dead helper's, the first
// claim of the chain must still be there. If that one was removed or replaced meanwhile, the
// chain was taken away with it, and the next helper starts at the first name again; so this
// claim is given up.
func (c *claims) heir(ctx context.Context, mine *claim) (byte, *claim, time.Time, error) {
	first := mine.chain[0]
	if len(mine.chain) == 1 || !looksBack {
		return wire.Mine, mine, time.Time{}, nil
	}
	value, err := c.server.engine.Get(ctx, first.name, most)
	if err == nil && string(value) == first.value {
		return wire.Mine, mine, time.Time{}, nil
	}
	c.intend(-1)
	go c.withdraw(&claim{of: c, chain: mine.chain[len(mine.chain)-1:]})
	if errors.Is(err, engine.ErrNotFound) || err == nil {
		return wire.Over, nil, time.Time{}, nil
	}
	return wire.Nobodys, nil, time.Time{}, err
}

// seenAt returns the time as of which an answer counts. asked is when the request was sent.
func seenAt(asked time.Time) time.Time {
	if !countsAsked {
		return time.Now()
	}
	return asked
}

// longestChain is how many dead holders of one key are followed. Beyond it, everybody compiles.
const longestChain = 16

// putClaim puts a claim of this helper under a name if nothing is there. The pulse starts before it,
// and goes on while putting counts the claim: if it is stored, until the caller has put it into
// held.
func (c *claims) putClaim(ctx context.Context, at engine.Name) (value string, stored bool, err error) {
	c.intend(1)
	defer func() {
		if !stored {
			c.intend(-1)
		}
	}()
	if err := c.alive(ctx); err != nil {
		return "", false, err
	}
	c.mu.Lock()
	c.nonce++
	value = c.token + "." + strconv.Itoa(c.nonce)
	c.mu.Unlock()
	stored, err = c.server.engine.Put(ctx, at, []byte(value), false)
	if err != nil && withdrawsLost && !errors.Is(err, engine.ErrRefused) {
		// It may have been stored, and others would wait for it as long as this helper has a pulse.
		go c.withdraw(&claim{of: c, chain: []link{{at, value}}})
	}
	return value, stored, err
}

func (c *claims) intend(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.putting += n
}

// deadAt returns when the holder of a claim counts as dead, unless its pulse changes before.
func (c *claims) deadAt(ctx context.Context, value string) (time.Time, error) {
	token, _, _ := strings.Cut(value, ".")
	if token == c.token && leavesOwn { // it is not held, so it is being taken back
		return time.Now().Add(mayMiss * c.server.beat), nil
	}
	if !tokenForm(token) || token == c.token {
		return time.Time{}, nil // nobody's
	}
	shown, err := c.server.engine.Get(ctx, c.valueName(token, "alive"), most)
	if err != nil && !errors.Is(err, engine.ErrNotFound) {
		return time.Time{}, err
	}
	if !ownClock {
		said, _ := strconv.ParseInt(string(shown), 10, 64)
		return time.Unix(0, said).Add(mayMiss * c.server.beat), nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(shown) == 0 && countsAbsence {
		token = value // it has none between two claims: that it had none with another says nothing
	}
	p, known := c.pulses[token]
	if !known || p.shown != string(shown) {
		if len(c.pulses) >= most {
			clear(c.pulses)
		}
		p = pulse{string(shown), time.Now()}
		c.pulses[token] = p
	}
	if !missesBeats {
		return p.since, nil
	}
	return p.since.Add(mayMiss * c.server.beat), nil
}

// tokenForm reports whether a text may be part of a name.
func tokenForm(text string) bool {
	return len(text) == len(rand.Text()) && strings.Trim(text, "abcdefghijklmnopqrstuvwxyz234567") == ""
}
