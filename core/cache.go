// Cache: opening and closing, and lookups in memory, in the directory and beyond it.

package core

import (
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"jitcache/core/blob"
	"jitcache/core/key"
	"jitcache/core/lease"
	"jitcache/core/memory"
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

func euid() int { return os.Geteuid() }

// Open opens a cache. An error means wrong use: an unknown option or a bad value.
// It is not an error if the directory cannot be used. The cache then keeps results
// in memory only, if it has a tier there, and a warning says so once.
func Open(o Options) (*Cache, error) {
	s, err := o.read()
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
	c.tell()
	c.drain()
	c.store.Flush()
}

// drain adds the hits that the in-process tier has counted to the counters.
func (c *Cache) drain() {
	if c.memory == nil {
		return
	}
	for _, h := range c.memory.Drain() {
		c.count([]byte(h.Kind), store.HitsMemory, h.Hits)
		c.count([]byte(h.Kind), store.TimeSaved, h.Saved)
	}
}

// count adds n to a counter of a kind: the directory's, or this process's if there is
// none.
func (c *Cache) count(kind []byte, counter store.Counter, n uint64) {
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
	c.count(b.KindBytes(), where, 1)
	c.count(b.KindBytes(), store.TimeSaved, uint64(max(cost, 0)))
}

// Memory returns the in-process tier, nil if there is none.
func (c *Cache) Memory() *memory.Memory { return c.memory }

// Store returns the directory, or nil and why there is none.
func (c *Cache) Store() (*store.Store, error) {
	c.settle()
	return c.store, c.refused
}

// Mode returns what JITCACHE says.
func (c *Cache) Mode() Mode { return c.settings.mode }

// Rule returns the rule that has chosen the directory.
func (c *Cache) Rule() string { return c.settings.rule }

// label returns an entry's name and the start of its key, for log lines.
func label(name string, id key.ID) string {
	short := id.String()[:12]
	if name == "" {
		return short
	}
	return name + " (" + short + ")"
}

// Get looks an entry up: memory, then disk. It returns a blob with a reference
// for the caller, or nil and why it missed. It calls sealed for the whole key
// if it explains the miss; sealed may be nil.
func (c *Cache) Get(id *key.ID, kind []byte, sealed func() *key.Key) (*blob.Blob, store.Reason) {
	if b := c.fromMemory(id); b != nil {
		return b, store.None
	}
	return c.Lookup(id, kind, NotOpened, sealed)
}

// EntryPaths returns the prefixes of the paths of entries (store.EntryPath): the own
// directory's, then each layer's. They are for a caller that opens entries itself, in
// that order. If no directory has an entry and GoesBeyond is false, the caller need not
// call Lookup; it counts the miss with Missed. There are no prefixes if lookups do not
// read the directory, or if every miss is logged.
func (c *Cache) EntryPaths() (paths []string) {
	if c.unread() != store.None || c.store == nil || c.log.wants(Miss) {
		return nil
	}
	layers := c.used
	if !goesOn {
		layers = nil
	}
	paths = append(paths, c.store.EntryPath())
	for _, l := range layers {
		paths = append(paths, l.store.EntryPath())
	}
	return paths
}

// GoesBeyond reports whether a lookup asks remotes if no directory has the entry.
func (c *Cache) GoesBeyond() bool { return len(c.remotes.used) > 0 }

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

// Missed counts n misses of a caller that did not call Lookup, as EntryPaths and Quiet
// allow. why is the reason.
func (c *Cache) Missed(kind []byte, why store.Reason, n uint64) {
	if c.store != nil {
		c.store.Count(kind, store.MissCounter(why), n)
	}
}

// Lookup is Get for a caller that has looked in memory, and may have opened the file.
func (c *Cache) Lookup(id *key.ID, kind []byte, opened Opened, sealed func() *key.Key) (*blob.Blob, store.Reason) {
	b, _, why := c.fromDisk(id, opened)
	if why != store.None {
		c.missed(id, kind, why, sealed)
	}
	return b, why
}

// Peek is Get for a caller that calls Acquire next: it counts a hit, but not a miss,
// which Acquire counts.
func (c *Cache) Peek(id *key.ID) (*blob.Blob, store.Reason) { return c.look(id) }

// PeekFrom is Peek for a caller that must know whether the entry was made here. foreign
// says that it has come from a remote, now or before, or that somebody else has signed it.
// PeekFrom does not look in memory: what a remote gave is kept there as it came, and only
// its copy on disk is marked.
func (c *Cache) PeekFrom(id *key.ID) (b *blob.Blob, foreign bool, why store.Reason) {
	b, where, why := c.fromDisk(id, NotOpened)
	return b, b != nil && (where == store.HitsRemote || c.madeElsewhere(b)), why
}

// look is Get without counting a miss.
func (c *Cache) look(id *key.ID) (*blob.Blob, store.Reason) {
	if b := c.fromMemory(id); b != nil {
		return b, store.None
	}
	b, _, why := c.fromDisk(id, NotOpened)
	return b, why
}

func (c *Cache) fromMemory(id *key.ID) *blob.Blob {
	if c.memory == nil {
		return nil
	}
	b, due := c.memory.Get((*[32]byte)(id))
	if due != 0 {
		c.Maintain(id, due)
	}
	return b
}

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

// read reads an entry of the own directory, and returns the ticket that was taken before.
func (c *Cache) read(id *key.ID, opened Opened) (*blob.Blob, memory.Ticket, store.Reason) {
	switch {
	case c.isOwn(&opened):
		b, why := c.unlessWithdrawn(c.store.GetFrom(opened.Fd, id))
		return b, opened.Ticket, why
	case opened.Fd == NotThere || c.layerOf(&opened) >= 0:
		return nil, opened.Ticket, store.Absent
	}
	var ticket memory.Ticket
	if c.memory != nil {
		ticket = c.memory.Ticket((*[32]byte)(id))
	}
	if c.store == nil {
		return nil, ticket, store.NoDirectory
	}
	b, why := c.own(id)
	return b, ticket, why
}

func (c *Cache) fromDisk(id *key.ID, opened Opened) (b *blob.Blob, where store.Counter, why store.Reason) {
	if why := c.unread(); why != store.None {
		return nil, 0, why
	}
	b, ticket, why := c.read(id, opened)
	where = store.HitsDisk
	if why != store.None {
		b, where, why = c.goOn(id, why, &opened)
	}
	if why != store.None {
		return nil, 0, why
	}
	c.countHit(where, b)
	c.uses(id)
	switch {
	case c.memory == nil:
	case inOrder:
		c.memory.Keep(b, ticket)
	default:
		c.memory.Put(b)
	}
	return b, where, store.None
}

// LookupInto is Lookup into a buffer: it copies the payload to buf and returns its
// size. If that is larger than buf, nothing was copied, and the caller calls again
// with a larger buffer. Without an in-process tier the payload is read straight into
// buf; if buf has some room beyond the payload, that takes one read.
func (c *Cache) LookupInto(id *key.ID, kind, buf []byte, opened Opened, sealed func() *key.Key) (int, store.Reason) {
	if c.memory != nil || c.unread() != store.None || c.settings.keys.AnyWithdrawn() {
		b, why := c.Lookup(id, kind, opened, sealed)
		if why != store.None {
			return 0, why
		}
		defer b.Release()
		if len(b.Data()) <= len(buf) {
			copy(buf, b.Data())
		}
		return len(b.Data()), store.None
	}
	size, entryKind, cost, why := c.readInto(id, buf, opened)
	if why == store.None {
		if size <= len(buf) {
			c.store.CountHit(store.HitsDisk, entryKind, cost)
			c.uses(id)
		}
		return size, why
	}
	b, where, why := c.goOn(id, why, &opened)
	if why != store.None {
		c.missed(id, kind, why, sealed)
		return 0, why
	}
	defer b.Release()
	if len(b.Data()) <= len(buf) {
		copy(buf, b.Data())
		c.countHit(where, b)
		c.uses(id)
	}
	return len(b.Data()), why
}

func (c *Cache) readInto(id *key.ID, buf []byte, opened Opened) (size int, kind []byte, cost int64, why store.Reason) {
	switch {
	case c.store == nil:
		return 0, nil, 0, store.NoDirectory
	case c.isOwn(&opened):
		return c.store.GetIntoFrom(opened.Fd, id, buf)
	case opened.Fd == NotThere || c.layerOf(&opened) >= 0:
		return 0, nil, 0, store.Absent
	}
	return c.store.GetInto(id, buf)
}

// Maintain does what a hit in memory asks for: it renews the entry's recency on disk,
// or writes the counters.
func (c *Cache) Maintain(id *key.ID, due memory.Due) {
	if c.store == nil {
		return
	}
	if due&memory.Touch != 0 {
		c.store.Touch(id)
	}
	if due&memory.Flush != 0 {
		c.drain()
		c.store.FlushIfDue()
	}
}

// Used counts n hits on entries of a kind that the host has returned itself, if there
// is no tier to count them.
func (c *Cache) Used(kind []byte, n uint64) {
	c.count(kind, store.HitsMemory, n)
}

// missed counts and logs a miss.
func (c *Cache) missed(id *key.ID, kind []byte, why store.Reason, sealed func() *key.Key) {
	c.count(kind, store.MissCounter(why), 1)
	level := Miss
	if key.IsInternal(kind) {
		level = Debug
	}
	if c.log.wants(level) {
		c.logMiss(level, id, why, sealed)
	}
}

// warnUnusable warns of an entry in the directory that cannot be used.
func (c *Cache) warnUnusable(id *key.ID, why store.Reason) {
	if why.Damaged() {
		c.log.warn("damaged "+why.String(), "entry %s is damaged (%v) and will be compiled again; see `jitcache verify`", label("", *id), why)
	} else if why != store.Absent && why != store.Off && why != store.Refresh && why != store.NoDirectory {
		c.log.warn("miss "+why.String(), "entry %s cannot be used: %v", label("", *id), why)
	}
}
