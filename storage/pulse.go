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

// alive shows that this helper lives, unless it has shown it a moment ago, and goes on with
// that for as long as it holds a claim.
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

// show shows another pulse than before. The caller has the lock of beat.
func (c *claims) show(ctx context.Context) error {
	c.beat.n++
	if !ownClock {
		c.beat.n = int(time.Now().UnixNano())
	}
	_, err := c.server.engine.Put(ctx, c.name(c.token, "alive"), []byte(strconv.Itoa(c.beat.n)), true)
	if err == nil {
		c.beat.at = time.Now()
	}
	return err
}

// beats shows the pulse while there are claims.
func (c *claims) beats() {
	b := &c.beat
	for {
		time.Sleep(c.server.beat)
		b.mu.Lock()
		holds := c.any()
		ctx, cancel := context.WithTimeout(context.Background(), c.server.beat)
		if holds {
			c.show(ctx) // what it cannot show, others will miss
		} else {
			c.server.engine.Remove(ctx, c.name(c.token, "alive"))
			b.running, b.at = false, time.Time{}
		}
		cancel()
		b.mu.Unlock()
		if !holds {
			return
		}
	}
}

// sendingTime is how long a result may take to be sent before its claim ends all the same.
const sendingTime = time.Minute

// done ends a claim whose result waits in an outbox: once it is sent, or what it comes to.
func (c *claims) done(mine *claim, dir string) {
	waits := c.server.outboxes.marks(dir)
	c.server.outboxes.add(dir)
	// One after the other, because many may wait: as long as one does there is nothing to end.
	for end := time.Now().Add(sendingTime); endsSent && len(waits) > 0 && time.Now().Before(end); {
		if exists(filepath.Join(dir, waits[0])) || exists(filepath.Join(dir, waits[0]+sending)) {
			time.Sleep(2 * time.Millisecond)
			continue
		}
		waits = waits[1:]
	}
	c.end(mine)
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// marks returns what waits in an outbox.
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

// end ends a claim: it goes on trying for as long as the helper lives, because others
// take a claim for good while they see the pulse. The helper may end meanwhile, and its pulse.
func (c *claims) end(mine *claim) {
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
		if c.server.state.refuses() == "" && c.remove(mine) {
			return
		}
		time.Sleep(wait)
	}
}

// remove takes a claim out of the engine: the first place at first, which is where others
// look, and nothing that somebody else has put there since.
func (c *claims) remove(mine *claim) bool {
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
