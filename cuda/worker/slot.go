package worker

import (
	"fmt"
	"runtime"
	"sync"

	"jitcache/core/lockfile"
)

// Locks takes the lock with a name, for this process among all of the user's on this node;
// nil if somebody has it. An error is that locks do not work.
type Locks func(name string) (*lockfile.Lock, error)

// A worker has 80 MB resident once it has compiled something small, and 370 after a
// kernel with CUB: so many at a time, of all processes of a user on a node.
// Eight threads compile side by side; a node of many cores has memory for more.
func bound() int { return min(max(runtime.NumCPU(), 8), 64) }

// slot is the right to have a worker: a lock, which the kernel gives up with its
// holder.
type slot struct{ lock *lockfile.Lock }

// slots are those of this process, which count where nothing can be locked.
var slots struct {
	sync.Mutex
	taken int
}

// takeSlot returns a slot, nil if there is none now.
func takeSlot(locks Locks) *slot {
	if !bounded {
		return &slot{}
	}
	slots.Lock()
	defer slots.Unlock()
	if slots.taken >= bound() {
		return nil
	}
	lock, ok := firstLock(locks)
	if !ok {
		return nil
	}
	slots.taken++
	return &slot{lock}
}

// firstLock takes the first lock that nobody holds. Where there are none that is as
// good.
func firstLock(locks Locks) (*lockfile.Lock, bool) {
	for i := 0; locks != nil && i < bound(); i++ {
		lock, err := locks(fmt.Sprintf("nvrtc-%d", i))
		if err != nil || lock != nil {
			return lock, true
		}
	}
	return nil, locks == nil
}

// isScarce reports whether nobody else could have a worker now.
func isScarce(locks Locks) bool {
	s := takeSlot(locks)
	s.release()
	return s == nil
}

func (s *slot) release() {
	if s == nil || !bounded {
		return
	}
	slots.Lock()
	defer slots.Unlock()
	slots.taken--
	if s.lock != nil {
		s.lock.Remove()
	}
}
