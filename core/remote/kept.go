// The connection that one lookup leaves open for the next.

package remote

import (
	"errors"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"jitcache/core/wire"
)

// keptFor is how long a connection is kept for the next lookup. Programs look up in bursts, and
// the host gets the descriptor back soon after one.
const keptFor = time.Second

// kept is the connection that a lookup has left for the next one. Connecting, and starting a
// session in the helper, is half of the cost of a lookup of 4 KB. Concurrent lookups have
// connections of their own.
//
// A host may close descriptors that it did not open, as daemons do at their start, and reuse the
// number for another file. So the socket is recognised by the kernel's cookie, which is unique.
// A descriptor with another cookie, or none, is neither used nor closed.
type kept struct {
	mu     sync.Mutex
	conn   *conn // nil if there is none
	cookie uint64
	since  time.Time
	timer  *time.Timer
}

// takeConn returns the connection, which then belongs to the caller, or nil.
func (k *kept) takeConn(deadline time.Time) *conn {
	k.mu.Lock()
	defer k.mu.Unlock()
	c := k.own()
	k.conn = nil
	if c != nil {
		c.deadline, c.late = deadline, 0
	}
	return c
}

// own returns the connection; nil if there is none or its descriptor is another file by now.
func (k *kept) own() *conn {
	if k.conn == nil {
		return nil
	}
	if cookie, err := cookieOf(k.conn.fd); knowsItsSocket && (err != nil || cookie != k.cookie) {
		return nil
	}
	return k.conn
}

func cookieOf(fd int) (uint64, error) {
	return unix.GetsockoptUint64(fd, unix.SOL_SOCKET, unix.SO_COOKIE)
}

// leaveConn keeps a connection for the next lookup, or closes it. err is the result of the request.
// Helpers other than ours may end an idle session, and kernels before 4.12 have no cookies.
func (k *kept) leaveConn(c *conn, err error) {
	var refused wire.Refused
	whole := err == nil || errors.Is(err, ErrAbsent) || errors.As(err, &refused)
	cookie, problem := cookieOf(c.fd)
	if !keepsConnections || !whole || !c.greeting.Jitcache || len(c.came) > 0 || problem != nil {
		c.closeSocket()
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.conn != nil {
		c.closeSocket()
		return
	}
	k.conn, k.cookie, k.since = c, cookie, time.Now()
	if k.timer == nil {
		k.timer = time.AfterFunc(keptFor, k.expire)
	} else {
		k.timer.Reset(keptFor)
	}
}

// expire closes the connection if it was not used.
func (k *kept) expire() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.conn == nil || time.Since(k.since) < keptFor {
		return
	}
	if c := k.own(); c != nil {
		c.closeSocket()
	}
	k.conn = nil
}

// answers sends a request over a kept connection, and reports whether an answer has begun. If
// not, the helper had ended the session, and has not served the request.
func (c *conn) answers(request []byte) bool {
	if c.writeAll(request) != nil {
		return false
	}
	n, err := c.receive(c.buffer[:])
	c.came = c.buffer[:n]
	return err == nil
}
