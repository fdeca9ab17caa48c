package remote

import (
	"errors"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"jitcache/core/wire"
)

// keptFor is how long a connection waits for the next lookup. Programs look up in bursts;
// the host has its descriptor back soon after one.
const keptFor = time.Second

// kept is the connection that a lookup has left for the next one, if there is one. To
// connect, and to be served by a session that has to begin, is half of what a lookup of 4 KB
// costs. The other lookups of the same moment have connections of their own.
//
// A host may close descriptors that are not its own, as daemons do when they start, and
// the number may be another file's by then. So the socket is known by the kernel's cookie,
// which no other one ever has, and what has another or none is neither used nor closed.
type kept struct {
	mu     sync.Mutex
	conn   *conn // nil if there is none
	cookie uint64
	since  time.Time
	timer  *time.Timer
}

// take returns the connection, which is the caller's now, or nil.
func (k *kept) take(deadline time.Time) *conn {
	k.mu.Lock()
	defer k.mu.Unlock()
	c := k.own()
	k.conn = nil
	if c != nil {
		c.deadline, c.late = deadline, 0
	}
	return c
}

// own returns the connection, nil if there is none or its descriptor has become another's.
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

// leave keeps a connection for the next lookup, or closes it: err is what the request has
// come to. Helpers of others may end a session that asks nothing, and a kernel before 4.12
// has no cookies.
func (k *kept) leave(c *conn, err error) {
	var refused wire.Refused
	whole := err == nil || errors.Is(err, ErrAbsent) || errors.As(err, &refused)
	cookie, problem := cookieOf(c.fd)
	if !keepsConnections || !whole || !c.greeting.Jitcache || len(c.came) > 0 || problem != nil {
		c.close()
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.conn != nil {
		c.close()
		return
	}
	k.conn, k.cookie, k.since = c, cookie, time.Now()
	if k.timer == nil {
		k.timer = time.AfterFunc(keptFor, k.expire)
	} else {
		k.timer.Reset(keptFor)
	}
}

// expire closes the connection if nobody has wanted it.
func (k *kept) expire() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.conn == nil || time.Since(k.since) < keptFor {
		return
	}
	if c := k.own(); c != nil {
		c.close()
	}
	k.conn = nil
}

// answers sends a request over a connection that was kept, and reports whether an answer
// has begun. If not, the helper has ended the session, and the request was not served.
func (c *conn) answers(request []byte) bool {
	if c.write(request) != nil {
		return false
	}
	n, err := c.receive(c.buffer[:])
	c.came = c.buffer[:n]
	return err == nil
}
