// Claims: of all machines that share a remote one compiles a key, and the others wait for its
// entry.

package core

import (
	"time"

	"jitcache/core/key"
	"jitcache/core/remote"
)

// One compile per fleet: the process that has the lease on this machine asks a remote for the
// claim on the key before it compiles. It does not keep the lease while another machine has the
// claim: each slice of the wait asks for both again.

// living is how long a machine that was alive is taken to be alive. Within ten seconds package
// storage finds out that it is dead, and a result that it has sent is fetched by then. Such a
// wait is not in vain.
const living = 10 * time.Second

// claimant returns the remote that is asked for claims, nil if there is none: the first from which
// other machines would get a result of this one.
func (c *Cache) claimant() *Remote {
	if !claims || c.settings.mode == ModeRefresh {
		return nil
	}
	for _, r := range c.remotes.used {
		if r.Reads && c.Sends(r) {
			return r
		}
	}
	return nil
}

// Claims reports whether a remote is asked for claims.
func (c *Cache) Claims() bool { return c.claimant() != nil }

// gaveUp reports whether this process no longer waits for other machines. The inputs of a command
// are known only after it has run, so another machine may run it with other files, or it may fail
// there. A process that has waited for one such machine runs the command itself.
func (c *Cache) gaveUp() bool {
	if !c.settings.launcher {
		return false
	}
	c.remotes.waits.mu.Lock()
	defer c.remotes.waits.mu.Unlock()
	return c.remotes.waits.over
}

// claimAfar asks for the claim on a key until the deadline. Leased: compile, and end the
// claim, which may be nil. Hit: found has found the result. Busy: another machine compiles.
func (c *Cache) claimAfar(k *key.Key, deadline time.Time, found func() bool) (*claim, Status) {
	r := c.claimant()
	if r == nil {
		return nil, Leased
	}
	for {
		since, waited, awaited := c.remotes.waits.known(&k.ID)
		if waited && time.Since(since) > c.settings.remoteWait {
			c.warnRemote(r, "has a claim of a machine that takes longer than JITCACHE_REMOTE_WAIT; it is compiled here, too")
			return nil, Leased
		}
		wait, gaveUp := time.Until(deadline), c.gaveUp()
		if gaveUp {
			wait = 0
		}
		mine, turn := r.client.Claim(&k.ID, wait, waited, awaited)
		c.remotes.waits.noteTurn(&k.ID, turn)
		switch {
		case turn == remote.Nobodys, turn == remote.Theirs && gaveUp:
			return nil, Leased
		case turn == remote.Theirs:
			c.remotes.refund(&k.ID)
			return nil, Busy
		}
		// The result may have come since the last look.
		c.remotes.forgetAbsences()
		switch {
		case found():
			if mine != nil {
				mine.Release()
			}
			return nil, Hit
		case mine != nil:
			return &claim{mine, r, c}, Leased
		case !time.Now().Before(deadline):
			return nil, Busy
		}
	}
}

// claim is a claim that this process holds.
type claim struct {
	*remote.Claim
	remote *Remote
	cache  *Cache
}

// endWhenSent ends a claim once the stored results are sent, so that no machine looks before they are
// there.
func (m *claim) endWhenSent() {
	if m != nil {
		m.Done(m.cache.store.Outbox(m.remote.client.Outbox()))
	}
}

// Settle ends a claim that this process has inherited as a descriptor, once everything that is
// stored by now is sent; see Lease.ClaimDescriptor.
func (c *Cache) Settle(fd int) {
	if r := c.claimant(); r != nil && fd > 0 {
		(&claim{remote.Adopt(fd), r, c}).endWhenSent()
	}
}

func (m *claim) releaseClaim() {
	if m != nil {
		m.Release()
	}
}
