// Claims: one compile per fleet, by conditional puts and pulses.

package storage

import (
	"crypto/rand"
	"slices"
	"strings"
	"sync"
	"time"

	"jitcache/storage/engine"
)

// One compile per fleet. A helper that compiles a key claims it: it puts a value with its own
// token under a name made of the key, on the condition that nothing is there. A helper that
// holds claims shows that it lives by another value, its pulse, which it changes every two
// seconds. A helper that waits looks at both, and measures by its own clock how long the pulse
// has stood still. No clock of another machine counts.
//
// The claim of a dead helper is not removed: two that wait might both do so, and the second
// would remove the claim of the first. Instead they claim its successor, under a name made of
// the key and the dead claim, and the engine lets one of them have it.
//
// A claim saves work and decides nothing. If one is lost, evicted or doubled, two compile.

// claims are the claims of a helper in one namespace. The engine only has to support a put on
// the condition that nothing is there.
type claims struct {
	server *Server
	space  []string // what every name begins with
	token  string   // of this helper

	mu      sync.Mutex
	held    map[string]*claim   // by the digits of the key
	watched map[string]*watched // likewise: claims of other helpers
	pulses  map[string]pulse    // by token
	ended   chan struct{}       // closed when a claim of this helper ends
	putting int                 // claims that may become this helper's
	nonce   int

	beat struct {
		mu      sync.Mutex
		n       int
		at      time.Time // of the last one
		running bool
	}
	trial trial
}

// claim is a claim that this helper holds. Only one goroutine ends it.
type claim struct {
	of    *claims
	id    string // of the key, its digits
	chain []link // its own place is the last
	over  bool   // its client is done with it, and it is being taken back; under mu of claims
}

// link is a name under which a claim may be, and the value there.
type link struct {
	name  engine.Name
	value string
}

// watched is a key for which a client waits.
type watched struct {
	since, next time.Time // when it was first asked for, and when the engine is asked next
	asking      bool
	holder      string // the value of its claim, as it was first seen; whoever asks has it
}

// pulse is the last pulse of a helper that was seen, and since when it has stood still.
type pulse struct {
	shown string
	since time.Time
}

const (
	beatEvery = 2 * time.Second
	// mayMiss is for how many beats a pulse may stand still before its helper counts as dead.
	// That makes eight seconds, so that the death of a holder is noticed within ten.
	mayMiss = 4
	// The time between two looks at another helper's claim: an eighth of the wait so far, a quarter of that more or less.
	// So nobody waits for longer than 1.16 times the compile and what it takes to fetch the result.
	partOfWait = 8
	firstLook  = 20 * time.Millisecond
	lastLook   = 5 * time.Second
)

// claimsOf returns the claims of a key's namespace.
func (s *Server) claimsOf(n engine.Name) *claims {
	s.spaces.mu.Lock()
	defer s.spaces.mu.Unlock()
	space := n.Parts[:len(n.Parts)-1]
	c := s.spaces.of[space[len(space)-1]]
	if c != nil {
		return c
	}
	if s.spaces.of == nil {
		s.spaces.of = map[string]*claims{}
	}
	c = &claims{
		server: s, space: space, token: strings.ToLower(rand.Text()), ended: make(chan struct{}),
		held: map[string]*claim{}, watched: map[string]*watched{}, pulses: map[string]pulse{},
	}
	s.spaces.of[space[len(space)-1]] = c
	return c
}

// valueName returns the name of a value that lives for a short time.
func (c *claims) valueName(of, what string) engine.Name {
	return engine.Name{Parts: append(slices.Clone(c.space), of+"-"+what)}
}

func (c *claims) any() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.held) > 0 || beatsBefore && c.putting > 0
}
