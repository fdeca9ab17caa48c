// Answers of Redis that announce too much.

package engine

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

// answering is a server that answers each command with the same, but knows no HELLO.
func answering(t *testing.T, answer string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go answerEach(c, answer)
		}
	}()
	return "redis://" + l.Addr().String()
}

func answerEach(c net.Conn, answer string) {
	defer c.Close()
	r := bufio.NewReader(c)
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return
		}
		words := make([]string, 0, 4)
		n, _ := strconv.Atoi(strings.TrimSpace(line[1:]))
		for range n {
			line, _ := r.ReadString('\n')
			size, _ := strconv.Atoi(strings.TrimSpace(line[1:]))
			b := make([]byte, size+2)
			if _, err := io.ReadFull(r, b); err != nil {
				return
			}
			words = append(words, string(b[:size]))
		}
		text := answer
		if strings.EqualFold(words[0], "hello") {
			text = "-ERR unknown command\r\n"
		}
		if _, err := io.WriteString(c, text); err != nil {
			return
		}
	}
}

// The client would allocate what is announced, or panic, and the helper would end.
//
//jitcache:control anyreply
func TestAnswerThatAnnouncesTooMuchIsRefused(t *testing.T) {
	for _, answer := range []string{"$500000000\r\nxxx", "$9223372036854775807\r\n", "*2000000000\r\n", "%99999999\r\n", "$?\r\n", "=1\xff\r\n", "-" + strings.Repeat("x", 1<<20)} {
		e := open(t, answering(t, answer), nil)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		func() {
			defer func() {
				if p := recover(); p != nil {
					t.Errorf("%.20q: panic: %v", answer, p)
				}
			}()
			if _, err := e.Get(ctx, aName(1), Limit); !errors.Is(err, ErrRefused) || ctx.Err() != nil {
				t.Errorf("%.20q: %v", answer, err)
			}
		}()
		cancel()
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > 64<<20 {
			t.Errorf("%.20q: %d bytes were allocated", answer, n)
		}
	}
}

// slowly gives a stream in parts of all sizes.
type slowly struct {
	net.Conn
	from io.Reader
	n    int
}

func (s *slowly) Read(p []byte) (int, error) {
	s.n = s.n%7 + 1
	return s.from.Read(p[:min(len(p), s.n)])
}

// What looks like a length within a value is none.
func TestAnswersComeThroughAsTheyAre(t *testing.T) {
	value := "$99999999999\r\n*5000000\r\n"
	stream := "+OK\r\n:12\r\n$" + strconv.Itoa(len(value)) + "\r\n" + value + "\r\n$-1\r\n*2\r\n$0\r\n\r\n_\r\n%1\r\n+a\r\n=5\r\ntxt:x\r\n-ERR x\r\n"
	b := &bounded{Conn: &slowly{from: strings.NewReader(stream)}, most: 100}
	var got bytes.Buffer
	if _, err := io.Copy(&got, struct{ io.Reader }{b}); err != nil || got.String() != stream {
		t.Errorf("%q, %v", got.String(), err)
	}
}
