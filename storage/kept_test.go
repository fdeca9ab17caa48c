// Connections that clients keep.

package storage

import (
	"net"
	"strings"
	"testing"
	"time"

	"jitcache/core/wire"
)

var entry = "jitcache/1/-/" + strings.Repeat("ab", 32)

//jitcache:control holdsplaces
func TestWhoKeepsAConnectionTakesNobodysPlace(t *testing.T) {
	const places = 3
	socket, _, _ := serving(t, 0, func(s *Server) { s.places = make(chan bool, places) })
	clients := make([]net.Conn, 2*places)
	for round := range 2 {
		for n := range clients {
			if round == 0 {
				clients[n] = dial(t, socket)
			}
			if got, err := get(t, clients[n], entry); got != "" || err != nil {
				t.Fatalf("client %d: %q, %v", n, got, err)
			}
		}
	}
}

//jitcache:control keepsours
func TestConnectionThatNobodyUsesEndsUnlessAnotherProgramHasIt(t *testing.T) {
	socket, _, _ := serving(t, 0, func(s *Server) { s.kept = 20 * time.Millisecond })
	own, other := dial(t, socket), dial(t, socket)
	if _, err := get(t, own, entry); err != nil {
		t.Fatal(err)
	}
	if _, err := get(t, other, strings.Repeat("c", 20)); err != nil { // as ccache does, which compiles for minutes then
		t.Fatal(err)
	}
	if !closed(own) {
		t.Error("a client of ours keeps its connection for ever")
	}
	if status, err := ask(t, other, putRequest(strings.Repeat("c", 20), 0, []byte("x"))); status != wire.OK || err != nil {
		t.Errorf("another program: %v, %v", status, err)
	}
	// A child that our client has forked while it asked has the connection for as long as it lives.
	upload := wire.AppendValue([]byte{wire.Upload}, []byte("/none"))
	for what, request := range map[string][]byte{"upload": upload, "rejected": wire.AppendText([]byte{wire.Rejected}, "why")} {
		own = dial(t, socket)
		if status, err := ask(t, own, request); status != wire.OK || err != nil {
			t.Fatalf("%s: %v, %v", what, status, err)
		}
		if !closed(own) {
			t.Errorf("%s: a client of ours keeps its connection for ever", what)
		}
	}
	own = dial(t, socket)
	if _, err := get(t, own, entry); err != nil {
		t.Fatal(err)
	}
	if status, err := ask(t, own, append(wire.AppendSize(wire.AppendText([]byte{wire.Claim}, entry), 0), 0)); status != wire.OK || err != nil {
		t.Fatalf("a claim: %v, %v", status, err)
	}
	if turn, err := wire.ReadByte(own); turn != wire.Mine || err != nil {
		t.Fatalf("a claim: %v, %v", turn, err)
	}
	own.SetDeadline(time.Now().Add(200 * time.Millisecond))
	if closed(own) {
		t.Error("a claim ends while its client works")
	}
}
