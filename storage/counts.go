// What a helper has done, counted, and its description of itself.

package storage

import (
	"context"
	"errors"
	"maps"
	"os"
	"sync"
	"sync/atomic"

	"jitcache/storage/engine"
)

// counts counts what a helper has done.
type counts struct {
	hits, errors, denied atomic.Int64
	puts, kept, removed  atomic.Int64
	received, sent       atomic.Int64

	mu     sync.Mutex
	misses map[string]int64 // by reason
}

// Description describes a helper: Status answers it as JSON.
type Description struct {
	Identity  string  `json:"identity"`
	URL       string  `json:"url"`
	Pid       int     `json:"pid"`
	Uptime    float64 `json:"uptime_seconds"`
	State     string  `json:"state"` // "up", or for how long it is down
	LastError string  `json:"last_error,omitempty"`
	Hits      int64   `json:"hits"`
	// Misses counts the requests for an entry that were answered without one, MissReasons counts
	// them by reason: those below, and what a client has said of an entry that it did not use.
	Misses      int64            `json:"misses"`
	MissReasons map[string]int64 `json:"miss_reasons"`
	Errors      int64            `json:"errors"`  // requests that have failed
	Refused     int64            `json:"refused"` // requests that were not made, because it is down
	Puts        int64            `json:"puts"`
	Kept        int64            `json:"not_stored"` // puts of what is there already
	Received    int64            `json:"received_bytes"`
	Sent        int64            `json:"sent_bytes"`
	Queue       int              `json:"queue"` // entries that wait to be sent
}

// Why a request for an entry was answered without one.
const (
	missAbsent  = "absent"
	missDown    = "down"
	missTime    = "too slow"
	missDenied  = "denied"
	missSize    = "too large"
	missDamaged = "damaged"
	missFailed  = "failed"
)

// missOf returns the reason for which the engine has not returned an entry.
func missOf(err error) string {
	switch {
	case errors.Is(err, engine.ErrNotFound):
		return missAbsent
	case errors.Is(err, engine.ErrDenied):
		return missDenied
	case errors.Is(err, engine.ErrTooLarge):
		return missSize
	case errors.Is(err, errObject), errors.Is(err, errBomb):
		return missDamaged
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return missTime
	}
	return missFailed
}

// mostReasons is how many reasons are told apart: clients may send any text.
const mostReasons = 32

func (c *counts) miss(why string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.misses == nil {
		c.misses = map[string]int64{}
	}
	if _, known := c.misses[why]; !known && len(c.misses) >= mostReasons {
		why = missFailed
	}
	c.misses[why]++
}

// rejected notes that a client got an entry and could not use it: the hit becomes a miss.
func (c *counts) rejected(why string) {
	c.hits.Add(-1)
	c.miss(why)
}

func (c *counts) describeTo(d *Description) {
	d.Hits, d.Errors, d.Refused = c.hits.Load(), c.errors.Load(), c.denied.Load()
	d.Puts, d.Kept, d.Received, d.Sent = c.puts.Load(), c.kept.Load(), c.received.Load(), c.sent.Load()
	c.mu.Lock()
	defer c.mu.Unlock()
	d.MissReasons = maps.Clone(c.misses)
	for _, n := range c.misses {
		d.Misses += n
	}
}
