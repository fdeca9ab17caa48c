// How many workers the processes of a user may have on a node.

package worker

import (
	"fmt"
	"runtime"
	"sync"

	"jitcache/core/lockfile"
)

// Locks takes the lock with a name, among all processes of the user on this node. It
// returns nil if another process has the lock, and an error if locks do not work.
type Locks func(name string) (*lockfile.Lock, error)

// bound is how many workers all processes of a user on a node may have. A worker has 80 MB
// resident once it has compiled something small, and 370 after a kernel with CUB. Eight
// threads can always compile side by side; a node with many cores has memory for more.
func bound() int { return min(max(runtime.NumCPU(), 8), 64) }

// slot is the right to have a worker. It is a lock, which the kernel frees when its holder
// dies.
type slot struct{ lock *lockfile.Lock }

// slots counts the slots of this process. They bound the workers even if locks do not work.
var slots struct {
	sync.Mutex
	taken int
}

// takeSlot returns a slot, nil if none is free.
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

// firstLock takes the first lock that nobody holds. It returns true without a lock if locks
// do not work.
func firstLock(locks Locks) (*lockfile.Lock, bool) {
	for i := 0; locks != nil && i < bound(); i++ {
		lock, err := locks(fmt.Sprintf("nvrtc-%d", i))
		if err != nil || lock != nil {
			return lock, true
		}
	}
	return nil, locks == nil
}

// isScarce reports whether no slot is free now.
func isScarce(locks Locks) bool {
	s := takeSlot(locks)
	s.releaseSlot()
	return s == nil
}

func (s *slot) releaseSlot() {
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
