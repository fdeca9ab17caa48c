// The pulse that shows that a helper lives, and the end of its claims.

package storage

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"jitcache/storage/engine"
)

// alive changes the pulse of this helper, unless it has done so a moment ago, and keeps it
// going as long as the helper holds a claim.
func (c *claims) alive(ctx context.Context) error {
	b := &c.beat
	b.mu.Lock()
	defer b.mu.Unlock()
	if time.Since(b.at) > c.server.beat {
		if err := c.show(ctx); err != nil {
			return err
		}
	}
	if !b.running {
		b.running = true
		go c.beats()
	}
	return nil
}

// show puts a new pulse. The caller holds the lock of beat.
func (c *claims) show(ctx context.Context) error {
	c.beat.n++
	if !ownClock {
		c.beat.n = int(time.Now().UnixNano())
	}
	_, err := c.server.engine.Put(ctx, c.valueName(c.token, "alive"), []byte(strconv.Itoa(c.beat.n)), true)
	if err == nil {
		c.beat.at = time.Now()
	}
	return err
}

// beats keeps the pulse going while there are claims.
func (c *claims) beats() {
	b := &c.beat
	for {
		time.Sleep(c.server.beat)
		b.mu.Lock()
		holds := c.any()
		ctx, cancel := context.WithTimeout(context.Background(), c.server.beat)
		if holds {
			c.show(ctx) // after an error others miss a beat
		} else {
			c.server.engine.Remove(ctx, c.valueName(c.token, "alive"))
			b.running, b.at = false, time.Time{}
		}
		cancel()
		b.mu.Unlock()
		if !holds {
			return
		}
	}
}

// sendingTime is how long a claim waits for its result to be sent before it ends in any case.
const sendingTime = time.Minute

// endWhenSent ends a claim whose result waits in an outbox, when the result is sent or sendingTime is
// over.
func (c *claims) endWhenSent(mine *claim, dir string) {
	waits := c.server.outboxes.marks(dir)
	c.server.outboxes.addOutbox(dir)
	// Entries are checked one after the other: while the first still waits, the others need no
	// look.
	for end := time.Now().Add(sendingTime); endsSent && len(waits) > 0 && time.Now().Before(end); {
		if exists(filepath.Join(dir, waits[0])) || exists(filepath.Join(dir, waits[0]+sending)) {
			time.Sleep(2 * time.Millisecond)
			continue
		}
		waits = waits[1:]
	}
	c.endClaim(mine)
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// marks returns the names of the entries that wait in an outbox.
func (o *outboxes) marks(dir string) (names []string) {
	if !outboxPath.MatchString(dir) {
		return nil
	}
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), sending))
	}
	return names
}

// endClaim ends a claim. It goes on trying as long as the helper lives, because others respect the
// claim while they see the pulse. If the helper ends, its pulse does too.
func (c *claims) endClaim(mine *claim) {
	c.mu.Lock()
	mine.over = true
	c.mu.Unlock()
	c.withdraw(mine)
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.held, mine.id)
	close(c.ended)
	c.ended = make(chan struct{})
}

func (c *claims) withdraw(mine *claim) {
	for wait := firstTry; ; wait = min(2*wait, lastTry) {
		if c.server.state.refuses() == "" && c.removeClaim(mine) {
			return
		}
		time.Sleep(wait)
	}
}

// removeClaim removes a claim from the engine, beginning with the first name of its chain, where
// others look. It leaves values that another helper has put there since.
func (c *claims) removeClaim(mine *claim) bool {
	ctx, cancel := c.server.within()
	defer cancel()
	for _, l := range mine.chain {
		value, err := c.server.engine.Get(ctx, l.name, most)
		if err == nil && string(value) == l.value {
			_, err = c.server.engine.Remove(ctx, l.name)
		}
		if err != nil && !errors.Is(err, engine.ErrNotFound) {
			c.server.state.saw(err)
			return false
		}
	}
	return true
}
