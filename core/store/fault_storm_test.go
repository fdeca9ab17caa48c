// Faults at random, under threads.

package store

import (
	"bytes"
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// Many goroutines at once on a disk on which one call in twenty fails: several faults
// occur in one put, and the repair of one meets another. Still there are no wrong bytes,
// no descriptor is left open, and the cache works afterwards.
//
//jitcache:control nowritecheck
//jitcache:control leak
func TestFaultsAtRandomAreSurvived(t *testing.T) {
	all := failures()
	s := quickStore(t, true)
	s.config.MaxSize = 40 * 1200 // so that puts evict
	before := descriptors(t)
	r := rand.New(rand.NewPCG(1, 2))
	fired := map[string]int{}
	setFault(t, func(op Op, _ string) (syscall.Errno, int) {
		f := all[r.IntN(len(all))]
		// Files that a failing unlink has left are for the sweep.
		if r.IntN(20) != 0 || !f.hits(op) || op == OpUnlink {
			return 0, -1
		}
		fired[f.String()]++
		return f.errno, f.limit
	})
	var stored, hits atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for end := time.Now().Add(time.Second); time.Now().Before(end); {
				n := rand.IntN(60)
				switch rand.IntN(40) {
				case 0:
					s.Trim(context.Background(), nil)
				case 1:
					s.Remove(&testKey(t, n).ID)
				case 2:
					s.Flush()
				default:
					if _, why := s.Put(Item{Key: testKey(t, n), Payload: elf(n), Replace: n%2 == 0}); why == None {
						stored.Add(1)
					}
				}
				got, why := get(t, s, testKey(t, n))
				if why == None {
					hits.Add(1)
				}
				if why == None && !bytes.Equal(got, elf(n)) || why.Damaged() {
					t.Errorf("entry %d: %d bytes, %v", n, len(got), why)
				}
			}
		})
	}
	wg.Wait()
	Fault = nil
	if len(fired) != len(all) || stored.Load() == 0 || hits.Load() == 0 {
		t.Errorf("fired %v, stored %d, hit %d", fired, stored.Load(), hits.Load())
	}
	if now := descriptors(t); now != before {
		t.Errorf("%d descriptors, %d before", now, before)
	}
	noLeftovers(t, s, "afterwards")
	if r, err := s.Verify(context.Background(), false, nil); err != nil || len(r.Bad) != 0 {
		t.Errorf("verify: %+v, %v", r, err)
	}
	if _, why := s.Put(Item{Key: testKey(t, 1), Payload: elf(1), Replace: true}); why != None {
		t.Errorf("afterwards: %v", why)
	}
	trueLedger(t, s, "afterwards")
}
