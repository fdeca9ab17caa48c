package storage

import (
	"errors"
	"fmt"
	"io"
	"sync"

	"jitcache/core/wire"
	"jitcache/storage/engine"
)

// atOnce is how many entries of a Fetch are asked of the engine at once, and held: an
// engine that can take many requests in one round trip gets so many.
const atOnce = 32

// batched is the largest value that is asked for with others: a larger one is asked for alone,
// when its turn comes. Who may write a remote could have a helper hold atOnce of the largest
// that there may be, 8 GB.
const batched = 4 << 20

// fetchAll answers a Fetch, as the entries come; false ends the session.
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

// alone gets a value, as large as it may be.
func (s *Server) alone(n engine.Name) (a engine.Answer) {
	ctx, cancel := s.within()
	defer cancel()
	a.Value, a.Err = s.engine.Get(ctx, n, s.limit)
	return a
}

// many gets values that are not large: in one round trip if the engine knows how, else a few at
// a time.
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
