// Keys that stand for requests: how the result of a request is looked up whose own key is not known
// yet.

package core

import (
	"sync"

	"jitcache/core/blob"
	"jitcache/core/key"
)

// If the key of a result is known only after it was made, a key that stands for the
// request is acquired. Nothing is ever stored under that key. Stand says how to look for
// the result, so that Acquire finds a result that was made meanwhile.

// standing has the keys of a cache that stand for requests.
type standing struct {
	mu    sync.Mutex
	known map[key.ID]*stand
}

type stand struct {
	look func() (*blob.Blob, string)
	why  string // why the last look found nothing
}

// mostStanding bounds the keys that are known at a time. If a key was forgotten, its
// owner looks for the result itself, once it has the lease.
const mostStanding = 1024

// Stand says how to look for the result that k stands for. look returns it with a
// reference for the caller; or nil and what has changed, "" if no result is known. Any
// thread may call look as long as the cache is open.
func (c *Cache) Stand(k *key.Key, why string, look func() (*blob.Blob, string)) {
	c.standing.mu.Lock()
	defer c.standing.mu.Unlock()
	if c.standing.known == nil || len(c.standing.known) >= mostStanding {
		c.standing.known = map[key.ID]*stand{}
	}
	c.standing.known[k.ID] = &stand{look, why}
}

// findStanding looks for the result that a key stands for. ok is false if the key does not stand
// for a request.
func (s *standing) findStanding(id *key.ID) (b *blob.Blob, why string, ok bool) {
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

// reason returns why the last look found nothing. ok is false if the key does not stand
// for a request.
func (s *standing) reason(id *key.ID) (why string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if found := s.known[*id]; found != nil {
		return found.why, true
	}
	return "", false
}
