package storage

import "sync/atomic"

// counts are what a helper has done.
type counts struct {
	hits, misses, errors, denied atomic.Int64
	puts, kept, removed          atomic.Int64
	received, sent               atomic.Int64
}

// Description is how a helper is, as Status answers in JSON.
type Description struct {
	Identity  string  `json:"identity"`
	URL       string  `json:"url"`
	Pid       int     `json:"pid"`
	Uptime    float64 `json:"uptime_seconds"`
	State     string  `json:"state"` // "up", or for how long it is down
	LastError string  `json:"last_error,omitempty"`
	Hits      int64   `json:"hits"`
	Misses    int64   `json:"misses"`
	Errors    int64   `json:"errors"`  // requests that have failed
	Refused   int64   `json:"refused"` // requests that were not made, because it is down
	Puts      int64   `json:"puts"`
	Kept      int64   `json:"not_stored"` // puts of what is there already
	Received  int64   `json:"received_bytes"`
	Sent      int64   `json:"sent_bytes"`
	Queue     int     `json:"queue"` // entries that wait to be sent
}

func (c *counts) describe(d *Description) {
	d.Hits, d.Misses, d.Errors, d.Refused = c.hits.Load(), c.misses.Load(), c.errors.Load(), c.denied.Load()
	d.Puts, d.Kept, d.Received, d.Sent = c.puts.Load(), c.kept.Load(), c.received.Load(), c.sent.Load()
}
