// Listening: one helper per socket, which ends when nobody needs it.

package storage

import (
	"errors"
	"net"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// ErrRuns says that another helper has the socket.
var ErrRuns = errors.New("another helper has this socket")

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
		claims, remains := s.holdsClaims()
		if s.outboxes.busy() || remains {
			idle += s.patience
		}
		if s.settings.Idle > 0 && s.open.Load() == 0 && !claims && quiet >= idle {
			s.end <- "idle"
			return
		}
	}
}

// holdsClaims reports whether a client holds a claim, and whether one is being taken back.
func (s *Server) holdsClaims() (claims, remains bool) {
	s.spaces.mu.Lock()
	defer s.spaces.mu.Unlock()
	for _, c := range s.spaces.of {
		c.mu.Lock()
		for _, mine := range c.held {
			over := mine.over && leavesClaims
			claims, remains = claims || !over, remains || over
		}
		c.mu.Unlock()
	}
	return claims, remains
}
