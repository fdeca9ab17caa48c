// Acquire and Commit: of all who want a result one gets the lease to compile it, and the others
// wait for its entry.

package core

import (
	"sync/atomic"
	"time"

	"jitcache/core/blob"
	"jitcache/core/key"
	"jitcache/core/lease"
	"jitcache/core/store"
)

// Status is the outcome of Acquire. The numbers are those of jitcache.h.
type Status int32

// The statuses.
const (
	Hit     Status = 0 // the entry is there
	Leased  Status = 2 // compile, and commit
	Busy    Status = 3 // another thread or process compiles it: call again
	Timeout Status = 4 // the time is up: compile, with a lease that locks nothing
)

// Lease is the right, and the duty, to compile one key. It ends with Commit or
// Release. Any thread may use it, but only one at a time.
type Lease struct {
	cache *Cache
	key   *key.Key
	began time.Time
	lease *lease.Lease // nil: it locks nothing
	claim *claim       // nil: it claims nothing on a remote
	done  atomic.Bool
}

// Slice is how long one call of Acquire waits at most. A host's signal handlers
// run between two calls. To people 100 ms seem no delay.
const Slice = 100 * time.Millisecond

// Acquire looks an entry up and, if it is missing, asks for the lease to
// compile it. It waits for at most a Slice, and not longer than timeout. A
// negative timeout ends only with the limits of package lease. why is the
// reason of the miss.
//
// holding says that the calling thread has a lease already. Such a thread never
// waits, because two threads that wait for each other's leases would wait for
// ever. If it had to, it gets a lease that locks nothing. first is false for a
// repeated call after Busy; only first calls count as lookups.
func (c *Cache) Acquire(k *key.Key, timeout time.Duration, holding, first bool) (b *blob.Blob, l *Lease, status Status, why store.Reason) {
	b, why = c.lookFor(&k.ID)
	if why == store.None {
		return b, nil, Hit, why
	}
	if first {
		c.missed(&k.ID, []byte(k.Kind), why, func() *key.Key { return k })
	}
	found := func() bool {
		if b == nil && c.settings.mode != ModeRefresh {
			b, _ = c.lookFor(&k.ID)
		}
		return b != nil
	}
	l, status = c.claimLease(k, timeout, holding, first, found)
	return b, l, status, why
}

// lookFor looks for the entry of a key. If the key stands for a request (Stand), it
// looks for the result of that.
func (c *Cache) lookFor(id *key.ID) (*blob.Blob, store.Reason) {
	b, _, ok := c.standing.findStanding(id)
	switch {
	case !ok:
		return c.getUncounted(id)
	case b == nil:
		return nil, store.Absent
	}
	return b, store.None
}

// Claim is the second half of Acquire, for a result whose key is known only after
// it was made: k stands for the request. Claim calls found, which looks for the
// result, whenever it may be there. Hit means that found has found it.
// Lease.CommitAs ends the lease.
func (c *Cache) Claim(k *key.Key, timeout time.Duration, holding, first bool, found func() bool) (*Lease, Status) {
	return c.claimLease(k, timeout, holding, first, found)
}

func (c *Cache) claimLease(k *key.Key, timeout time.Duration, holding, first bool, found func() bool) (l *Lease, status Status) {
	switch {
	case c.settings.mode == ModeOff:
		return c.newLease(k, nil), Leased
	case holding, timeout == 0:
		l, status = c.try(k, time.Now(), found)
	default:
		l, status = c.waitForLease(k, timeout, first, found)
	}
	if status == Busy && (holding || timeout == 0) {
		l, status = c.newLease(k, nil), Timeout
		if holding {
			status = Leased
		}
	}
	return l, status
}

func (c *Cache) waitForLease(k *key.Key, timeout time.Duration, first bool, found func() bool) (*Lease, Status) {
	start := time.Now()
	slice := Slice
	if !cutsWaits {
		slice = 50 * Slice // Ctrl-C is answered after 5 seconds
	}
	if timeout > 0 {
		slice = min(slice, timeout)
	}
	for {
		l, status := c.try(k, start.Add(slice), found)
		waited := time.Since(start)
		if status == Busy && waited < slice {
			continue // something ended, but not with an entry
		}
		c.countWait(k, waited, first)
		if status == Busy && timeout > 0 && waited >= timeout {
			return c.newLease(k, nil), Timeout
		}
		return l, status
	}
}

// waitedAtAll is the shortest time that counts as a wait.
const waitedAtAll = time.Millisecond

func (c *Cache) countWait(k *key.Key, waited time.Duration, first bool) {
	if waited < waitedAtAll {
		return
	}
	if first {
		c.addToCounter([]byte(k.Kind), store.Waits, 1)
	}
	c.addToCounter([]byte(k.Kind), store.WaitTime, uint64(waited))
}

// try asks for the lease until the deadline, and takes the entry if it appears.
func (c *Cache) try(k *key.Key, deadline time.Time, found func() bool) (*Lease, Status) {
	granted, outcome := c.leases.Acquire(k.ID, k.Name, deadline, found)
	switch {
	case outcome == lease.Granted:
		claim, status := c.claimAfar(k, deadline, found)
		if status != Leased {
			granted.Release()
			return nil, status
		}
		l := c.newLease(k, granted)
		l.claim = claim
		return l, Leased
	case outcome == lease.Look && found():
		return nil, Hit
	}
	return nil, Busy
}

func (c *Cache) newLease(k *key.Key, l *lease.Lease) *Lease {
	return &Lease{cache: c, key: k, began: time.Now(), lease: l}
}

// Commit stores the result and ends the lease. If want is set, it returns the bytes
// as a blob with a reference for the caller, whether they were stored or not; nil if
// there was no memory. attributes must have passed CheckAttributes.
func (l *Lease) Commit(payload []byte, attributes string, want bool) (*blob.Blob, store.Reason) {
	return l.CommitAs(l.key, payload, attributes, want, nil)
}

// CommitAs is Commit under another key than the lease's. If the result was stored, it
// calls stored before the lease ends, so that the next holder finds the result.
func (l *Lease) CommitAs(k *key.Key, payload []byte, attributes string, want bool, stored func()) (*blob.Blob, store.Reason) {
	c := l.cache
	if l.done.Swap(true) {
		return nil, store.Absent
	}
	defer l.lease.Release()
	took := time.Since(l.began)
	c.countCompile(k, took)
	b, why := c.putItem(store.Item{Key: k, Payload: payload, Attributes: attributes, Cost: int64(took)}, want)
	if why == store.None && stored != nil {
		stored()
	}
	l.claim.endWhenSent()
	return b, why
}

// Release gives the lease up without a result: the next that waits compiles. After
// Commit it does nothing.
func (l *Lease) Release() {
	if !l.done.Swap(true) {
		l.claim.releaseClaim()
		l.lease.Release()
	}
}

// Commit stores a result that was made under a lease of another process. took is how
// long that took. It returns None if the entry is there afterwards, else why it is
// not.
func (c *Cache) Commit(k *key.Key, payload []byte, attributes string, took time.Duration) store.Reason {
	l := &Lease{cache: c, key: k, began: time.Now().Add(-took)}
	_, why := l.CommitAs(k, payload, attributes, false, nil)
	return why
}

// Descriptor returns the path of the lease's file and the descriptor that holds the
// lock. A program that this process becomes has the lease through the descriptor. It
// gives the lease up by removing the file and closing the descriptor. fd is -1 if the
// lease locks nothing.
func (l *Lease) Descriptor() (path string, fd int) { return l.lease.Descriptor() }

// ClaimDescriptor returns the descriptor of the lease's claim on a remote, for the same
// use; 0 if it has no claim. The claim ends when the descriptor is closed, or by Settle.
func (l *Lease) ClaimDescriptor() int {
	if l.claim == nil {
		return 0
	}
	return l.claim.Descriptor()
}
