// Cache: an open cache, what it says of itself, and its counters.

package core

import (
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"jitcache/core/blob"
	"jitcache/core/key"
	"jitcache/core/lease"
	"jitcache/core/memory"
	"jitcache/core/remote"
	"jitcache/core/store"
	"jitcache/core/trust"
)

// Cache is an open cache. Its methods may be called from any goroutine or
// thread, and by any number of processes on the same directory.
//
// A forked child must not use its parent's Cache: the Go runtime does not
// survive fork. libjitcache opens it again there.
type Cache struct {
	settings *settings
	log      logger
	memory   *memory.Memory // nil: no in-process tier
	store    *store.Store   // nil: no usable directory
	refused  error          // why there is none
	alone    *store.Tally   // counts if there is no directory; nil with JITCACHE=0
	layers   []*Layer       // all that the settings name
	used     []*Layer       // those of them that are used
	remotes  remotes
	copying  copying
	profile  *profile      // nil: none is named
	signer   *trust.Secret // nil: entries are not signed
	words    struct {
		mu sync.Mutex
		of map[key.ID][]trust.Public // keys that notes rest on, see rely
	}
	leases   lease.Table
	standing standing
	closed   atomic.Bool
}

// drain adds the hits that the in-process tier has counted to the counters.
func (c *Cache) drain() {
	if c.memory == nil {
		return
	}
	for _, h := range c.memory.Drain() {
		c.addToCounter([]byte(h.Kind), store.HitsMemory, h.Hits)
		c.addToCounter([]byte(h.Kind), store.TimeSaved, h.Saved)
	}
}

// addToCounter adds n to a counter of a kind: the directory's, or this process's if there is
// none.
func (c *Cache) addToCounter(kind []byte, counter store.Counter, n uint64) {
	switch {
	case c.store != nil:
		c.store.Count(kind, counter, n)
	case c.alone != nil:
		c.alone.Count(kind, counter, n)
	}
}

// countHit counts a hit on disk, in a layer or in a remote; where is its counter.
func (c *Cache) countHit(where store.Counter, b *blob.Blob) {
	_, cost := b.Created()
	if c.store != nil {
		c.store.CountHit(where, b.KindBytes(), cost)
		return
	}
	c.addToCounter(b.KindBytes(), where, 1)
	c.addToCounter(b.KindBytes(), store.TimeSaved, uint64(max(cost, 0)))
}

// Memory returns the in-process tier, nil if there is none.
func (c *Cache) Memory() *memory.Memory { return c.memory }

// Mode returns what JITCACHE says.
func (c *Cache) Mode() Mode { return c.settings.mode }

// Rule returns the rule that has chosen the directory.
func (c *Cache) Rule() string { return c.settings.rule }

// Opened is the file of an entry that the caller of Lookup has opened, and closes.
// The caller took the ticket before it opened the file.
type Opened struct {
	Fd     int    // NotThere: no directory has the file; another negative number: it was not opened
	In     string // the one of EntryPaths under which the file is; those before it have none
	Ticket memory.Ticket
}

// NotThere is the Fd of an entry that no directory has.
const NotThere = -int(syscall.ENOENT)

// NotOpened is for a caller that has not looked for the file.
var NotOpened = Opened{Fd: -1}

// unread returns why no lookup reaches the disk, None if it does.
func (c *Cache) unread() store.Reason {
	switch {
	case c.settings.mode == ModeOff:
		return store.Off
	case c.settings.mode == ModeRefresh:
		return store.Refresh
	case c.store == nil && !c.Layered():
		return store.NoDirectory
	}
	return store.None
}

// warnUnusable warns of an entry in the directory that cannot be used.
func (c *Cache) warnUnusable(id *key.ID, why store.Reason) {
	if why.Damaged() {
		c.log.warn("damaged "+why.String(), "entry %s is damaged (%v) and will be compiled again; see `jitcache verify`", label("", *id), why)
	} else if why != store.Absent && why != store.Off && why != store.Refresh && why != store.NoDirectory {
		c.log.warn("miss "+why.String(), "entry %s cannot be used: %v", label("", *id), why)
	}
}

// countCompile counts a result that was compiled, and how long that took.
func (c *Cache) countCompile(k *key.Key, took time.Duration) {
	kind := []byte(k.Kind)
	c.addToCounter(kind, store.Compiles, 1)
	c.addToCounter(kind, store.CompileTime, uint64(took))
	remote.Spent.Compiled(took)
}

// Layered reports whether lookups go on to layers or remotes.
func (c *Cache) Layered() bool { return len(c.used)+len(c.remotes.used) > 0 }
