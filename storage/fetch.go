// Requests for many entries at once.

package storage

import (
	"errors"
	"fmt"
	"io"
	"sync"

	"jitcache/core/wire"
	"jitcache/storage/engine"
)

// atOnce is how many entries of a Fetch are requested at once and held in memory. An engine that
// takes many requests in one round trip gets so many.
const atOnce = 32

// batched is the largest value that is requested together with others. A larger one is requested
// alone when its turn comes. Otherwise a writer of the remote could make a helper hold atOnce of
// the largest values, 8 GB.
const batched = 4 << 20

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
	return s.send(s.told(err))
}

// alone gets a single value of any size up to the limit.
func (s *Server) alone(n engine.Name) (a engine.Answer) {
	ctx, cancel := s.within()
	defer cancel()
	a.Value, a.Err = s.engine.Get(ctx, n, s.limit)
	return a
}

// many gets values of at most batched bytes: in one round trip if the engine can do that, else a
// few at a time.
func (s *Server) many(names []engine.Name) []engine.Answer {
	ctx, cancel := s.within()
	defer cancel()
	limit := s.limit
	if boundsBatch {
		limit = min(limit, batched)
	}
	if e, ok := s.engine.(engine.Batch); ok {
		return e.GetMany(ctx, names, limit)
	}
	answers := make([]engine.Answer, len(names))
	var group sync.WaitGroup
	free := make(chan bool, atATime)
	for i, n := range names {
		free <- true
		group.Go(func() {
			answers[i].Value, answers[i].Err = s.engine.Get(ctx, n, limit)
			<-free
		})
	}
	group.Wait()
	return answers
}
