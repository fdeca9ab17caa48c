// A connection of a client, and the answers to its requests.

package storage

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"jitcache/core/wire"
	"jitcache/storage/engine"
)

// session is one connection of a client. It ends with the first malformed request.
type session struct {
	*Server
	conn  net.Conn
	r     *bufio.Reader
	claim *claim // that the client has
	keeps bool   // it is one of ours, which may keep the connection for its next lookup
}

// slow is how long a client may take to send the rest of a request, or to take an answer. It
// runs on this machine.
const slow = 30 * time.Second

func (s *session) serve() {
	s.r = bufio.NewReaderSize(s.conn, 4<<10)
	over := make(chan struct{})
	defer close(over)
	defer s.drop()
	if !s.send(wire.AppendGreeting(nil)) {
		return
	}
	for {
		request, err := s.next()
		if err != nil {
			return
		}
		had := s.claim
		if !s.one(request) {
			return
		}
		if had == nil && s.claim != nil {
			go s.watchPeer(over)
		}
	}
}

// keptFor is how long a client of ours may keep an idle connection after a lookup. It closes its
// own after a second, but a child that it has forked may still hold it.
const keptFor = 10 * time.Second

// next waits for the first byte of a request. Meanwhile a client that keeps the connection does
// not occupy a place.
func (s *session) next() (byte, error) {
	if !s.keeps || s.claim != nil {
		s.conn.SetReadDeadline(time.Time{})
		return s.r.ReadByte()
	}
	s.conn.SetReadDeadline(time.Now().Add(s.kept))
	if givesPlaces {
		<-s.places
		defer func() { s.places <- true }()
	}
	return s.r.ReadByte()
}

// one answers the request whose first byte was read; false ends the session.
func (s *session) one(request byte) bool {
	s.open.Add(1)
	defer func() {
		s.last.Store(int64(time.Since(s.began)))
		s.open.Add(-1)
	}()
	s.conn.SetReadDeadline(time.Now().Add(slow))
	answer, ok := s.answerRequest(request)
	return ok && s.send(answer)
}

func (s *session) send(answer []byte) bool {
	if len(answer) == 0 {
		return true // it is sent already
	}
	s.conn.SetWriteDeadline(time.Now().Add(slow))
	_, err := s.conn.Write(answer)
	return err == nil
}

// sendValue sends an OK and a value, without copying the value.
func (s *session) sendValue(value []byte) error {
	s.conn.SetWriteDeadline(time.Now().Add(slow))
	_, err := (&net.Buffers{wire.AppendSize([]byte{wire.OK}, uint64(len(value))), value}).WriteTo(s.conn)
	return err
}

// answerRequest reads the rest of a request and returns the answer; false ends the session.
func (s *session) answerRequest(request byte) ([]byte, bool) {
	s.keeps = s.keeps || request >= wire.Upload && endsOurs
	switch request {
	case wire.Get:
		return withKey(s, s.answerGet)
	case wire.Put:
		return withKey(s, s.answerPut)
	case wire.Remove:
		return withKey(s, s.answerRemove)
	case wire.Stop:
		s.send([]byte{wire.OK})
		s.end <- "stopped by a client"
		return nil, false
	case wire.Info:
		return s.answerInfo(), true
	case wire.Upload:
		return s.withDirectory(func(dir string) []byte {
			s.outboxes.addOutbox(dir)
			return []byte{wire.OK}
		})
	case wire.Flush:
		return s.withDirectory(s.answerFlush)
	case wire.Claim:
		return withKey(s, s.answerClaim)
	case wire.Done:
		return s.withDirectory(s.handOverClaim)
	case wire.Fetch:
		return nil, s.fetchAll()
	case wire.Rejected:
		why, err := wire.ReadText(s.r)
		if err != nil {
			return nil, false
		}
		s.counts.rejected(string(why))
		return []byte{wire.OK}, true
	case wire.Status:
		s.probeEngine()
		text, err := json.Marshal(s.describeHelper())
		if err != nil {
			return nil, false
		}
		return wire.AppendValue([]byte{wire.OK}, text), true
	}
	return nil, false
}

// withKey reads a key and calls fn, which reads the rest of the request.
func withKey(s *session, fn func(n engine.Name) ([]byte, error)) ([]byte, bool) {
	key, err := wire.ReadText(s.r)
	if err != nil {
		return nil, false
	}
	if len(key) == 0 {
		return nil, false
	}
	answer, err := fn(nameOf(key))
	return answer, err == nil
}

func (s *session) withDirectory(fn func(dir string) []byte) ([]byte, bool) {
	dir, err := wire.ReadValue(s.r, wire.MaxPath)
	if err != nil {
		return nil, false
	}
	return fn(string(dir)), true
}

func (s *session) answerGet(n engine.Name) ([]byte, error) {
	s.keeps = s.keeps || n.Ours()
	if answer := s.down(); answer != nil {
		s.counts.miss(missDown)
		return answer, nil
	}
	value, err := s.getValue(n)
	if err != nil {
		s.counts.miss(missOf(err))
	}
	switch {
	case err == engine.ErrNotFound:
		return []byte{wire.Noop}, nil
	case err != nil:
		return s.errorAnswer(err), nil
	}
	s.counts.hits.Add(1)
	return nil, s.sendValue(value)
}

func (s *session) answerPut(n engine.Name) ([]byte, error) {
	flags, err := wire.ReadByte(s.r)
	if err != nil {
		return nil, err
	}
	value, err := wire.ReadValue(s.r, s.limit)
	if err != nil {
		return nil, err
	}
	if answer := s.down(); answer != nil {
		return answer, nil
	}
	stored, err := s.putValue(n, value, flags&wire.Overwrite != 0)
	switch {
	case err != nil:
		return s.errorAnswer(err), nil
	case !stored:
		return []byte{wire.Noop}, nil
	}
	return []byte{wire.OK}, nil
}

func (s *session) answerRemove(n engine.Name) ([]byte, error) {
	if answer := s.down(); answer != nil {
		return answer, nil
	}
	ctx, cancel := s.within()
	defer cancel()
	removed, err := s.engine.Remove(ctx, n)
	switch {
	case err != nil:
		return s.errorAnswer(err), nil
	case !removed:
		return []byte{wire.Noop}, nil
	}
	s.counts.removed.Add(1)
	return []byte{wire.OK}, nil
}

// answerInfo is for ccache's log.
func (s *session) answerInfo() []byte {
	d := s.describeHelper()
	said := []string{d.URL, d.State}
	if d.LastError != "" {
		said = append(said, "last error: "+d.LastError)
	}
	answer := append(wire.AppendText(nil, Identity), byte(len(said)))
	for _, text := range said {
		answer = wire.AppendText(answer, text)
	}
	return answer
}

// mostWait is the longest that Flush waits.
const mostWait = time.Hour

func (s *session) answerFlush(dir string) []byte {
	ms, err := wire.ReadSize(s.r)
	if err != nil {
		return wire.AppendErr(nil, "how long?")
	}
	wait := min(time.Duration(min(ms, uint64(mostWait/time.Millisecond)))*time.Millisecond, mostWait)
	hasty, err := wire.ReadByte(s.r)
	if err != nil {
		return wire.AppendErr(nil, "for whom?")
	}
	s.outboxes.addOutbox(dir)
	if s.outboxes.emptied(dir, wait, hasty != 0) {
		return []byte{wire.OK}
	}
	return []byte{wire.Noop}
}

// fetchAll answers a Fetch, entry by entry as they come; false ends the session.
func (s *session) fetchAll() bool {
	prefix, err := wire.ReadText(s.r)
	if err != nil {
		return false
	}
	n, err := wire.ReadLength(s.r, wire.MaxFetch)
	if err != nil {
		return false
	}
	digests := make([]byte, 32*n)
	if _, err := io.ReadFull(s.r, digests); err != nil {
		return false
	}
	if answer := s.down(); answer != nil {
		return s.send(answer)
	}
	if !s.send([]byte{wire.OK}) {
		return false
	}
	for ; len(digests) > 0; digests = digests[min(32*atOnce, len(digests)):] {
		var names []engine.Name
		for i := 0; i < min(32*atOnce, len(digests)); i += 32 {
			names = append(names, nameOf(fmt.Appendf(nil, "%s%x", prefix, digests[i:i+32])))
		}
		for i, a := range s.many(names) {
			if errors.Is(a.Err, engine.ErrTooLarge) {
				a = s.alone(names[i])
			}
			if !s.sendOne(a) {
				return false
			}
		}
	}
	return true
}

func (s *session) sendOne(a engine.Answer) bool {
	value, err := a.Value, a.Err
	s.counts.received.Add(int64(len(value)))
	if err == nil {
		value, err = unpack(value, s.limit)
	}
	switch {
	case err == nil:
		s.counts.hits.Add(1)
		return s.sendValue(value) == nil
	case errors.Is(err, engine.ErrNotFound):
		s.counts.miss(missAbsent)
		return s.send([]byte{wire.Noop})
	}
	s.counts.miss(missOf(err))
	return s.send(s.errorAnswer(err))
}

// describeHelper returns what `jitcache remote status` shows.
func (s *Server) describeHelper() *Description {
	d := &Description{Identity: Identity, URL: s.settings.URL, Pid: os.Getpid(), Uptime: time.Since(s.began).Seconds()}
	d.State, d.LastError = s.state.stateText()
	s.counts.describeTo(d)
	d.Queue = s.outboxes.waiting()
	return d
}
