// Requests for many entries at once.

package storage

import (
	"sync"

	"jitcache/storage/engine"
)

// atOnce is how many entries of a Fetch are requested at once and held in memory. An engine that
// takes many requests in one round trip gets so many.
const atOnce = 32

// batched is the largest value that is requested together with others. A larger one is requested
// alone when its turn comes. Otherwise a writer of the remote could make a helper hold atOnce of
// the largest values, 8 GB.
const batched = 4 << 20

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
