// Server: the helper's socket, its connections, and its end.

package storage

import (
	"context"
	"errors"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

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

// ErrRuns says that another helper has the socket.
var ErrRuns = errors.New("another helper has this socket")

// New returns a server. It connects to nothing. If the settings are wrong, the server serves,
// and says so to whoever asks.
func New(s *Settings) (*Server, error) {
	e, err := s.open()
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

// Run answers requests until the helper has to end, and says why it has.
func (s *Server) Run() (why string, err error) {
	lock, err := s.lock()
	if err != nil {
		return "", err
	}
	defer lock.Close()
	syscall.Umask(0o077) // of the socket, as the protocol wants it
	os.Remove(s.settings.Endpoint)
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: s.settings.Endpoint, Net: "unix"})
	if err != nil {
		return "", err
	}
	go s.accept(l)
	go s.watchIdle()
	why = <-s.end
	l.Close() // removes the socket
	s.engine.Close()
	return why, nil
}

// lock makes this process the only helper of its socket. The kernel releases the lock when the
// process ends, so a socket without the lock belongs to nobody.
func (s *Server) lock() (*os.File, error) {
	path := s.settings.Endpoint + ".own" // ccache has .lock
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil && servesAlone {
		f.Close()
		if err == unix.EWOULDBLOCK {
			return nil, ErrRuns
		}
		return nil, err
	}
	return f, nil
}

// mostConnections is how many clients are served at a time. The kernel lets others wait. Clients
// that only keep a connection for their next lookup do not count.
const mostConnections = 512

func (s *Server) accept(l *net.UnixListener) {
	for {
		conn, err := l.AcceptUnix()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil: // no descriptor is free
			time.Sleep(10 * time.Millisecond)
			continue
		}
		s.places <- true
		go func() {
			defer func() {
				conn.Close()
				<-s.places
			}()
			if !checksPeer || isOwn(conn) {
				(&session{Server: s, conn: conn}).serve()
			}
		}()
	}
}

// isOwn reports whether the client is a process of this user or of root.
func isOwn(conn *net.UnixConn) bool {
	raw, err := conn.SyscallConn()
	if err != nil {
		return false
	}
	own := false
	raw.Control(func(fd uintptr) {
		peer, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
		own = err == nil && (int(peer.Uid) == os.Geteuid() || peer.Uid == 0)
	})
	return own
}

// patience is how long a helper without requests goes on trying to send entries and to remove
// claims. The next helper sends the rest, and claims without a pulse count for nothing.
const patience = 5 * time.Minute

// watchIdle ends the helper when there were no requests for a while, or when its socket was
// removed or replaced, so that no request can reach it.
func (s *Server) watchIdle() {
	step := time.Second
	if s.settings.Idle > 0 {
		step = min(step, s.settings.Idle/4)
	}
	was, _ := os.Stat(s.settings.Endpoint)
	for {
		time.Sleep(step)
		if is, err := os.Stat(s.settings.Endpoint); err != nil || was == nil || !os.SameFile(was, is) {
			s.end <- "its socket is gone"
			return
		}
		quiet := time.Since(s.began) - time.Duration(s.last.Load())
		idle := s.settings.Idle
		claims, remains := s.holds()
		if s.outboxes.busy() || remains {
			idle += s.patience
		}
		if s.settings.Idle > 0 && s.open.Load() == 0 && !claims && quiet >= idle {
			s.end <- "idle"
			return
		}
	}
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

// describe returns what `jitcache remote status` shows.
func (s *Server) describe() *Description {
	d := &Description{Identity: Identity, URL: s.settings.URL, Pid: os.Getpid(), Uptime: time.Since(s.began).Seconds()}
	d.State, d.LastError = s.state.text()
	s.counts.describe(d)
	d.Queue = s.outboxes.waiting()
	return d
}
