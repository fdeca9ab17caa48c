// A helper: its settings, its engine, and what it says of errors.

package storage

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"jitcache/storage/engine"
)

// Server answers requests of clients about one remote.
type Server struct {
	settings *Settings
	engine   engine.Engine
	limit    int64         // bytes of a value
	timeout  time.Duration // of a request to the engine
	state    state
	outboxes outboxes
	counts   counts
	spaces   struct {
		mu sync.Mutex
		of map[string]*claims // by namespace
	}
	began    time.Time
	patience time.Duration
	beat     time.Duration // of the pulse, while it holds claims
	kept     time.Duration // for how long a client may keep a connection
	doubts   time.Duration // before the second trial of an engine that seems to ignore conditions

	places chan bool // one for each client that is served

	open atomic.Int64 // requests that are being answered
	last atomic.Int64 // when the last one ended, in nanoseconds since began
	end  chan string  // why the helper ends
}

// New returns a server. It connects to nothing. If the settings are wrong, the server serves,
// and says so to whoever asks.
func New(s *Settings) (*Server, error) {
	e, err := s.openEngine()
	if errors.Is(err, engine.ErrUsage) {
		s.Engine.Attributes = nil
		e, err = engine.Unusable(err), nil
	}
	if err != nil {
		return nil, err
	}
	limit, timeout, err := s.Engine.Limits()
	if err != nil {
		return nil, err
	}
	v := &Server{
		settings: s, engine: e, limit: limit, timeout: timeout, began: time.Now(),
		patience: patience, beat: beatEvery, kept: keptFor, doubts: firstDoubt,
		places: make(chan bool, mostConnections), end: make(chan string, 8),
	}
	v.state.probe = e.Probe
	v.outboxes.server = v
	return v, nil
}

// within returns a context for one request to the engine.
func (s *Server) within() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), s.timeout)
}

// failed notes an error of the engine, and returns its text for the client.
func (s *Server) failed(err error) string {
	s.state.saw(err)
	if errors.Is(err, engine.ErrDenied) && endsDenied {
		// A new helper may find new credentials.
		time.AfterFunc(100*time.Millisecond, func() { s.end <- err.Error() })
	}
	return s.shown(err)
}

// shown returns an error's text without the secrets of the URL.
func (s *Server) shown(err error) string {
	text := err.Error()
	if u := s.settings.Engine.URL; u.User != nil {
		if password, ok := u.User.Password(); ok && password != "" {
			text = strings.ReplaceAll(text, password, "…")
		}
	}
	return text
}

// Identity is the name and version by which the helper answers.
var Identity = "jitcache-storage"
