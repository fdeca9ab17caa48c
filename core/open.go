// Open: a cache from its options, and its end.

package core

import (
	"errors"
	"time"

	"jitcache/core/key"
	"jitcache/core/lease"
	"jitcache/core/memory"
	"jitcache/core/store"
)

// Open opens a cache. An error means wrong use: an unknown option or a bad value.
// It is not an error if the directory cannot be used. The cache then keeps results
// in memory only, if it has a tier there, and a warning says so once.
func Open(o Options) (*Cache, error) {
	s, err := o.readSettings()
	if err != nil {
		return nil, err
	}
	c := &Cache{settings: s, log: s.log, copying: copying{pause: pauseOfCopies}}
	c.openMemory(o.Memory)
	c.openStore()
	c.openLayers()
	c.openRemotes()
	c.openSigner()
	if c.refused != nil && !degrade {
		return nil, c.refused
	}
	// If nothing can be stored, there is nothing to wait for.
	if c.store != nil && c.store.Refuses() == store.None {
		c.leases.Locks = c.store
	}
	c.leases.Unsupported = func(err error) {
		c.log.warn("locks", "lock files do not work here, so processes may compile the same thing twice: %v", err)
	}
	c.leases.Waiting = func(id key.ID, h lease.Holder, waited time.Duration) {
		c.log.line(Info, "waiting for process %d to compile %s, which it began %v ago", h.Pid, label(h.Name, id), waited.Round(time.Second))
	}
	c.openProfile(o.Memory != nil)
	return c, nil
}

func (c *Cache) openStore() {
	if c.settings.mode == ModeOff {
		return
	}
	if c.settings.directory == "" {
		c.refused = errors.New("there is no cache directory: HOME, XDG_CACHE_HOME and JITCACHE_DIR are unset")
	} else {
		c.store, c.refused = store.Open(c.settings.store)
	}
	if c.refused != nil {
		c.store, c.alone = nil, new(store.Tally)
		kept := "results are kept in memory only, for as long as the process runs"
		if c.memory == nil {
			kept = "no result is kept, for this cache has no memory of its own either"
		}
		c.log.warn("directory "+c.settings.directory+kept, "%v; %s", c.refused, kept)
		return
	}
	c.log.line(Debug, "cache directory %s (%s), file system %s", c.store.Root(), c.settings.rule, c.store.Mount().Name)
}

func (c *Cache) openMemory(m *memory.Memory) {
	switch {
	case m != nil:
		c.memory = m
	case c.settings.mode == ModeOff || c.settings.mode == ModeRefresh:
	case c.settings.memorySize > 0:
		c.memory = memory.New(uint64(c.settings.memorySize))
	}
}

// Close writes the counters. The Cache must not be used afterwards; blobs that
// it has returned stay valid. The caller frees the in-process tier, after the
// last call has returned.
func (c *Cache) Close() {
	if !c.closed.Swap(true) {
		c.Leave()
	}
}

// Leave is Flush at the end of a process. It also waits until the results of the process
// are sent to the remotes, for as long as JITCACHE_REMOTE_EXIT_WAIT says; see exitWait.
func (c *Cache) Leave() {
	c.saveProfile()
	c.Flush()
	if waitsAtEnd && c.remotes.offered.Load() {
		if wait, patient := c.settings.exitWait(); wait > 0 {
			c.flushRemotes(wait, patient)
		}
	}
}

// Flush writes the counters of this process to the ledger, and tells the helpers which
// entries are to be sent to remotes.
func (c *Cache) Flush() {
	if c.store == nil {
		return
	}
	c.settle()
	c.tellHelpers()
	c.drain()
	c.store.Flush()
}

// Store returns the directory, or nil and why there is none.
func (c *Cache) Store() (*store.Store, error) {
	c.settle()
	return c.store, c.refused
}
