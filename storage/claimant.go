// Requests for claims, and the claims that a client holds.

package storage

import (
	"net"
	"time"

	"golang.org/x/sys/unix"

	"jitcache/core/wire"
	"jitcache/storage/engine"
)

// mostClaimWait is the longest that a request for a claim waits. The library asks for shorter
// times, so that the host's signals do not wait long.
const mostClaimWait = 10 * time.Second

// answerClaim answers a request for a claim.
func (s *session) answerClaim(n engine.Name) ([]byte, error) {
	ms, err := wire.ReadSize(s.r)
	if err != nil {
		return nil, err
	}
	waited, err := wire.ReadByte(s.r)
	if err != nil {
		return nil, err
	}
	switch {
	case !n.Ours():
		return wire.AppendErr(nil, "no key of jitcache"), nil
	case s.claim != nil:
		return wire.AppendErr(nil, "this connection has a claim"), nil
	}
	if answer := s.down(); answer != nil {
		return answer, nil
	}
	until := time.Now().Add(min(time.Duration(min(ms, 1<<20))*time.Millisecond, mostClaimWait))
	turn, mine, err := s.claimsOf(n).askForClaim(n.Parts[len(n.Parts)-1], until, waited != 0)
	if err != nil {
		return s.errorAnswer(err), nil
	}
	s.claim = mine
	return []byte{wire.OK, turn}, nil
}

// handOverClaim takes the claim over from the client. It ends when the entries of an outbox are sent.
func (s *session) handOverClaim(dir string) []byte {
	if mine := s.claim; mine != nil {
		s.claim = nil
		go mine.of.endWhenSent(mine, dir)
	}
	return []byte{wire.OK}
}

// drop ends the claim of a client that has disconnected.
func (s *session) drop() {
	if s.claim != nil {
		go s.claim.of.endClaim(s.claim)
	}
}

// watchPeer ends the session of a client that has died, even if a child that it has forked keeps
// the connection open.
func (s *session) watchPeer(over <-chan struct{}) {
	conn, ok := s.conn.(*net.UnixConn)
	if !ok {
		return
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		return
	}
	pid := 0
	raw.Control(func(fd uintptr) {
		if peer, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); err == nil {
			pid = int(peer.Pid)
		}
	})
	if pid <= 0 {
		return // in another namespace
	}
	process, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		if err == unix.ESRCH {
			s.conn.Close()
		}
		return
	}
	defer unix.Close(process)
	for every := time.NewTicker(time.Second); ; {
		select {
		case <-over:
			every.Stop()
			return
		case <-every.C:
			if n, _ := unix.Poll([]unix.PollFd{{Fd: int32(process), Events: unix.POLLIN}}, 0); n > 0 {
				s.conn.Close()
				every.Stop()
				return
			}
		}
	}
}
