// Bounds the answers of Redis before its client allocates memory for them.

package engine

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"strconv"
	"syscall"
)

// The client of Redis allocates what an answer announces, before any of it has come, and
// panics if that is more than there can be. So a server that is broken, or is none of Redis,
// could end the helper. bounded reads the lengths before the client does.
type bounded struct {
	net.Conn
	most int64  // of a value
	line []byte // the beginning of a line whose end has not come
	long int    // the length of that line so far
	skip int64  // what is left of a value
	bad  error  // why nothing more is read
}

// boundedTCP is bounded for a connection whose descriptor the client looks at, to learn
// whether the server has closed it.
type boundedTCP struct {
	bounded
	syscall.Conn
}

const (
	// mostCount is how many parts an answer may have. Ours have one; a greeting has eight.
	mostCount = 1024
	// mostLine is how long a line may be, such as an error.
	mostLine = 64 << 10
	// mostDigits is how much of a line is looked at: a letter and a length.
	mostDigits = 24
)

// dialer is a dialer whose connections are bounded.
func dialer(dial func(context.Context, string, string) (net.Conn, error), most int64) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		if err != nil || !boundsReplies {
			return c, err
		}
		b := bounded{Conn: c, most: most}
		if raw, ok := c.(syscall.Conn); ok {
			return &boundedTCP{b, raw}, nil
		}
		return &b, nil
	}
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.bad != nil {
		return 0, b.bad
	}
	n, err := b.Conn.Read(p)
	if b.bad = b.follow(p[:n]); b.bad != nil {
		return 0, b.bad
	}
	return n, err
}

// follow follows the lines and values of what has come.
func (b *bounded) follow(p []byte) error {
	for len(p) > 0 {
		if b.skip > 0 {
			n := min(b.skip, int64(len(p)))
			b.skip, p = b.skip-n, p[n:]
			continue
		}
		end := bytes.IndexByte(p, '\n')
		part := p
		if end >= 0 {
			part = p[:end]
		}
		b.line = append(b.line, part[:min(len(part), mostDigits-len(b.line))]...)
		if b.long += len(part); b.long > mostLine {
			return wrap(ErrRefused, "the server does not answer as Redis does")
		}
		if end < 0 {
			return nil
		}
		if err := b.announced(); err != nil {
			return err
		}
		b.line, b.long, p = b.line[:0], 0, p[end+1:]
	}
	return nil
}

// announced looks at the length that a line announces, if it does.
func (b *bounded) announced() error {
	line := bytes.TrimSuffix(b.line, []byte("\r"))
	if len(line) == 0 {
		return nil
	}
	value := bytes.IndexByte([]byte("$=!"), line[0]) >= 0
	if !value && bytes.IndexByte([]byte("*%~>|"), line[0]) < 0 {
		return nil
	}
	n, err := strconv.ParseInt(string(line[1:]), 10, 64)
	switch {
	case err != nil || value && n > b.most || !value && n > mostCount:
		return wrap(ErrRefused, fmt.Sprintf("the server announces an answer of a size that is not allowed: %q", line))
	case value && n >= 0:
		b.skip = n + 2 // and the end of its line
	}
	return nil
}
