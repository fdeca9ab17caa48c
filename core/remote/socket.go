// The connection to the helper, each of whose reads and writes has a deadline.

package remote

import (
	"errors"
	"io"
	"os"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"jitcache/core/wire"
)

// Package net is not in the library: it is half a megabyte in every forked child, and has
// a poller. So this is a socket by its system calls, without a wait that has no end.

var (
	errTime     = errors.New("the helper did not answer in time")
	errStranger = errors.New("another user owns the helper's socket")
	errNoHelper = errors.New("no helper is running")
)

// conn is a connection to the helper, for one request; that of a lookup may be kept for the
// next one. A read or a write ends at the deadline.
type conn struct {
	fd       int
	deadline time.Time
	late     time.Duration // by how much this machine was late to go on; the deadline is later by it
	greeting wire.Greeting
	greeted  bool // there is a helper that answers
	// What has come and was not read: package bufio would be three kilobytes of library.
	buffer [64]byte
	came   []byte
}

// dial connects, sends the first request if there is one, and reads the greeting. errNoHelper:
// nobody listens.
func dial(path string, deadline time.Time, first []byte) (*conn, error) {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if fd < 3 { // a host may have closed its streams, and write to them all the same
		low := fd
		fd, err = unix.FcntlInt(uintptr(low), unix.F_DUPFD_CLOEXEC, 3)
		unix.Close(low)
		if err != nil {
			return nil, err
		}
	}
	c := &conn{fd: fd, deadline: deadline}
	if err := c.connect(path, first); err != nil {
		c.closeSocket()
		return nil, err
	}
	return c, nil
}

func (c *conn) connect(path string, first []byte) error {
	for {
		err := unix.Connect(c.fd, &unix.SockaddrUnix{Name: path})
		switch {
		case err == unix.ENOENT || err == unix.ECONNREFUSED:
			return errNoHelper
		case err == unix.EAGAIN: // as many wait as may
			if time.Now().After(c.deadline) {
				return errTime
			}
			time.Sleep(time.Millisecond)
			continue
		case err == unix.EINTR:
			continue
		case err != nil && err != unix.EISCONN:
			return err
		}
		break
	}
	peer, err := unix.GetsockoptUcred(c.fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return err
	}
	if checksOther && int(peer.Uid) != os.Geteuid() && peer.Uid != 0 {
		return errStranger
	}
	if err := c.writeAll(first); err != nil {
		return err
	}
	c.greeting, err = wire.ReadGreeting(c)
	c.greeted = err == nil
	return err
}

func (c *conn) closeSocket() { unix.Close(c.fd) }

// A process that sleeps for a tick and wakes much later is on a machine that has no time,
// and so is its helper, which has greeted it: that is not the remote's doing, and another compile would not make
// it better. So it counts neither for the deadline nor for the budget, up to a bound.
const (
	tick     = 20 * time.Millisecond
	lateness = 5 * time.Millisecond // of a timer, on a machine that has time
	mostLate = 10 * time.Second
)

// waitReady waits until the socket is ready, or the deadline has come.
func (c *conn) waitReady(events int16) error {
	for {
		now := time.Now()
		left := c.deadline.Sub(now)
		if left <= 0 {
			return errTime
		}
		fds := []unix.PollFd{{Fd: int32(c.fd), Events: events}}
		left = min(left, tick).Truncate(time.Millisecond) + time.Millisecond
		n, err := unix.Poll(fds, int(left/time.Millisecond))
		if late := time.Since(now) - left; forgivesLate && c.greeted && late > lateness {
			late = min(late, mostLate-c.late)
			c.late, c.deadline = c.late+late, c.deadline.Add(late)
		}
		if n > 0 {
			return nil
		}
		if err != nil && err != unix.EINTR {
			return err
		}
	}
}

// Read reads what has come. It is io.Reader's. What is large goes to its place at once.
func (c *conn) Read(b []byte) (n int, err error) {
	if len(c.came) == 0 {
		if len(b) >= len(c.buffer) {
			return c.receive(b)
		}
		n, err = c.receive(c.buffer[:])
		c.came = c.buffer[:n]
	}
	n = copy(b, c.came)
	c.came = c.came[n:]
	return n, err
}

func (c *conn) receive(b []byte) (int, error) {
	for {
		n, err := unix.Read(c.fd, b)
		switch {
		case err == unix.EAGAIN:
			err = c.waitReady(unix.POLLIN)
		case err == unix.EINTR:
			err = nil
		case err == nil && n == 0:
			return 0, io.EOF
		case err == nil:
			return n, nil
		}
		if err != nil {
			return 0, err
		}
	}
}

// writeAll sends all of b. A peer that has gone raises no signal.
func (c *conn) writeAll(b []byte) error {
	for len(b) > 0 {
		n, _, e := unix.Syscall6(unix.SYS_SENDTO, uintptr(c.fd), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), unix.MSG_NOSIGNAL, 0, 0)
		switch e {
		case 0:
			b = b[n:]
		case unix.EAGAIN:
			if err := c.waitReady(unix.POLLOUT); err != nil {
				return err
			}
		case unix.EINTR:
		default:
			return e
		}
	}
	return nil
}

// askStatus sends a request and reads the first byte of the answer.
func (c *conn) askStatus(request []byte) (status byte, err error) {
	if err := c.writeAll(request); err != nil {
		return 0, err
	}
	return wire.ReadStatus(c)
}
