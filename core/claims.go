package core

import (
	"sync"
	"time"

	"jitcache/core/key"
	"jitcache/core/remote"
)

// One compile per fleet: who has the lease on this machine asks a remote for the claim on
// the key before it compiles. The lease is not held while another machine has the claim:
// every slice of a wait asks again.

// waits are the keys that another machine compiles, and since when this process waits.
type waits struct {
	mu sync.Mutex
	of map[key.ID]time.Time
}

// since returns since when this process waits for a key.
func (w *waits) since(id *key.ID) (at time.Time, waits bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	at, waits = w.of[*id]
	return at, waits
}

// note notes that this process waits, or that it does not any more.
func (w *waits) note(id *key.ID, waits bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, known := w.of[*id]
	switch {
	case !waits:
		delete(w.of, *id)
	case !known:
		if w.of == nil || len(w.of) >= mostAbsent {
			w.of = map[key.ID]time.Time{}
		}
		w.of[*id] = time.Now()
	}
}

// claimant returns the remote that is asked for claims: the first of those from which
// others would get what is compiled here. nil: there is none.
func (c *Cache) claimant() *Remote {
	if !claims || c.settings.mode == ModeRefresh {
		return nil
	}
	for _, r := range c.remotes.used {
		if r.Reads && r.Writes && (r.client.Unsigned || c.signer != nil) {
			return r
		}
	}
	return nil
}

// claimAfar asks for the claim on a key until the deadline. Leased: compile, and end the
// claim, which may be nil. Hit: found has found the result. Busy: another machine compiles.
func (c *Cache) claimAfar(k *key.Key, deadline time.Time, found func() bool) (*claim, Status) {
	r := c.claimant()
	if r == nil {
		return nil, Leased
	}
	for {
		since, waited := c.remotes.waits.since(&k.ID)
		if waited && time.Since(since) > c.settings.remoteWait {
			c.warnRemote(r, "has a claim of a machine that takes longer than JITCACHE_REMOTE_WAIT; it is compiled here, too")
			return nil, Leased
		}
		mine, turn := r.client.Claim(&k.ID, time.Until(deadline), waited)
		c.remotes.waits.note(&k.ID, turn == remote.Theirs)
		switch turn {
		case remote.Nobodys:
			return nil, Leased
		case remote.Theirs:
			return nil, Busy
		}
		// The result may have come since it was looked for.
		c.remotes.forget()
		switch {
		case found():
			if mine != nil {
				mine.Release()
			}
			return nil, Hit
		case mine != nil:
			return &claim{mine, r, c}, Leased
		case !time.Now().Before(deadline):
			return nil, Busy
		}
	}
}

// claim is one that this process has.
type claim struct {
	*remote.Claim
	remote *Remote
	cache  *Cache
}

// done ends a claim with whatever was stored, so that no machine asks before it is sent.
func (m *claim) done() {
	if m != nil {
		m.Done(m.cache.store.Outbox(m.remote.client.Outbox()))
	}
}

func (m *claim) release() {
	if m != nil {
		m.Release()
	}
}
