// Whether the engine answers, and for how long it is not asked.

package storage

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"jitcache/storage/engine"
)

// state tells whether the engine answers. While it does not, requests get that answer at once
// and one goroutine probes the engine. So a dead remote costs a lookup only what the local
// socket costs.
type state struct {
	probe func(context.Context) error

	mu    sync.Mutex
	down  string // why, "" if it answers
	since time.Time
	last  string // the last error of any kind
}

// The time between two probes, short at first for a restart, longer for an outage.
const (
	firstProbe = 200 * time.Millisecond
	lastProbe  = 10 * time.Second
)

// refuses returns why no request is sent to the engine, "" if requests are sent.
func (s *state) refuses() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.down
}

// ofEntry reports whether an error is about one entry and says nothing about the engine.
func ofEntry(err error) bool {
	return errors.Is(err, engine.ErrTooLarge) || errors.Is(err, errObject) || errors.Is(err, errBomb)
}

// saw notes the result of a request.
func (s *state) saw(err error) {
	var busy *engine.Unavailable
	switch {
	case err == nil, errors.Is(err, engine.ErrNotFound):
		return
	case errors.Is(err, engine.ErrDenied), errors.Is(err, engine.ErrRefused), ofEntry(err):
		s.mu.Lock()
		s.last = err.Error()
		s.mu.Unlock()
		return
	}
	wait := firstProbe
	if errors.As(err, &busy) && busy.For > 0 {
		wait = busy.For
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = err.Error()
	if s.down == "" {
		s.down, s.since = err.Error(), time.Now()
		go s.watch(wait)
	}
}

// watch probes until the engine answers.
func (s *state) watch(wait time.Duration) {
	for {
		time.Sleep(wait)
		ctx, cancel := context.WithTimeout(context.Background(), connecting)
		err := s.probe(ctx)
		cancel()
		if err == nil || errors.Is(err, engine.ErrDenied) || errors.Is(err, engine.ErrNotFound) || errors.Is(err, engine.ErrRefused) {
			s.mu.Lock()
			s.down = ""
			s.mu.Unlock()
			return
		}
		s.mu.Lock()
		s.last = err.Error()
		s.mu.Unlock()
		wait = min(max(2*wait, firstProbe), lastProbe)
	}
}

// connecting is how long a probe may take.
const connecting = 2 * time.Second

// probeEngine probes the engine, unless it is known to be down, so that Status describes the present.
// It takes no longer than the caller of Status waits.
func (s *Server) probeEngine() {
	if s.state.refuses() != "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), looking)
	defer cancel()
	if err := s.state.probe(ctx); err != nil {
		s.state.saw(err)
	}
}

// looking is below the two seconds that the command waits for an answer.
const looking = 1500 * time.Millisecond

// stateText returns the state in words, and the last error.
func (s *state) stateText() (text, last string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down == "" {
		return "up", s.last
	}
	return fmt.Sprintf("down for %v", time.Since(s.since).Round(time.Second)), s.last
}
