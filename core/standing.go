package core

import (
	"sync"

	"jitcache/core/blob"
	"jitcache/core/key"
)

// A result whose key shows only when it is made is asked for by a key that stands for
// the request. Nothing is ever stored under that; who has made it says how to look for
// the result, and so Acquire finds what somebody else has made meanwhile.

// standing are the keys of a cache that stand for requests.
type standing struct {
	mu    sync.Mutex
	known map[key.ID]*stand
}

type stand struct {
	look func() (*blob.Blob, string)
	why  string // the last look was in vain
}

// mostStanding is how many are known at a time. One that was forgotten makes its owner
// look by itself, once it has the lease.
const mostStanding = 1024

// Stand says how the result is looked for that k stands for. look returns it with a
// reference for the caller, or nil and in what the world has changed, "" if nothing is
// known of it; any thread may call it, for as long as the cache is open.
func (c *Cache) Stand(k *key.Key, why string, look func() (*blob.Blob, string)) {
	c.standing.mu.Lock()
	defer c.standing.mu.Unlock()
	if c.standing.known == nil || len(c.standing.known) >= mostStanding {
		c.standing.known = map[key.ID]*stand{}
	}
	c.standing.known[k.ID] = &stand{look, why}
}

// find looks for the result that a key stands for. ok is false if it stands for none.
func (s *standing) find(id *key.ID) (b *blob.Blob, why string, ok bool) {
	s.mu.Lock()
	found := s.known[*id]
	s.mu.Unlock()
	if found == nil {
		return nil, "", false
	}
	b, why = found.look()
	s.mu.Lock()
	found.why = why
	s.mu.Unlock()
	return b, why, true
}

// reason returns why the last look was in vain. ok is false if the key stands for
// nothing.
func (s *standing) reason(id *key.ID) (why string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if found := s.known[*id]; found != nil {
		return found.why, true
	}
	return "", false
}
