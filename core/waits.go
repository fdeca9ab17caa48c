// Waits: which keys this process waits for while other machines compile them.

package core

import (
	"sync"
	"time"

	"jitcache/core/key"
	"jitcache/core/remote"
)

// waits are the keys that another machine compiles or has just compiled.
type waits struct {
	mu   sync.Mutex
	of   map[key.ID]wait
	last time.Time // the last time that of has as alive
	over bool      // another machine has ended what this process has waited for
}

// wait is what is known of the machine that compiles a key.
type wait struct {
	since time.Time // when this process began to wait, zero: it does not any more
	alive time.Time // when who compiles was alive, as the remote said
}

// known returns since when this process waits for a key, if it does, and whether the machine that
// compiles it, or has compiled it, was alive a moment ago.
func (w *waits) known(id *key.ID) (since time.Time, waited, awaited bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	of, ok := w.of[*id]
	return of.since, !of.since.IsZero(), ok && time.Since(of.alive) < living
}

// any reports whether a machine that compiles any of the keys was alive a moment ago.
func (w *waits) any() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.last.IsZero() && time.Since(w.last) < living
}

// noteTurn notes an answer about a key.
func (w *waits) noteTurn(id *key.ID, turn remote.Turn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	of, now := w.of[*id], time.Now()
	switch {
	case turn == remote.Nobodys:
		delete(w.of, *id)
		return
	case turn == remote.Mine:
		of.since = time.Time{}
	case turn == remote.Over:
		of, w.over = wait{alive: now}, true
	case of.since.IsZero():
		of = wait{since: now, alive: now}
	default:
		of.alive = now
	}
	if w.of == nil || len(w.of) >= mostAbsent {
		w.of = map[key.ID]wait{}
	}
	if of.alive.After(w.last) {
		w.last = of.alive
	}
	w.of[*id] = of
}
