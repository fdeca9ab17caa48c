// The remotes of a cache: which are asked, what is accepted from them, and what is sent to them.

package core

import (
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"jitcache/core/blob"
	"jitcache/core/key"
	"jitcache/core/remote"
	"jitcache/core/store"
)

// Remotes are asked last, after the layers. An entry that is found there is copied into the
// cache's own directory. An entry that is stored in that directory is noted in an outbox, from
// which the helper process sends it; nobody waits for that.

// StorageProgram returns the path of jitcache-storage, "" if there is none. The library and the
// command set it to a call of FindStorage. It is called only if a remote is configured.
var StorageProgram = func() string { return "" }

// FindStorage returns the path of jitcache-storage for a library or program at this path, "" if
// there is none.
func FindStorage(executable string) string { return remote.Find(executable) }

// ShownRemotes returns the text of JITCACHE_REMOTE without secrets.
func ShownRemotes(text string) string { return remote.ShownText(text) }

// Remote is a remote that the settings name.
type Remote struct {
	URL     string // without a password
	Source  string // who has named it, see trust.Setting
	Refused string // why it is not used, "" if it is
	// Reads is false if nothing is read from it, because no key is trusted and it may not hold
	// unsigned entries. Writes is false if nothing is put there.
	Reads, Writes bool

	client *remote.Remote
}

// remotes are the remotes of a cache.
type remotes struct {
	named []*Remote
	used  []*Remote // of those

	mu     sync.Mutex
	absent map[key.ID]absence // what was asked for in vain a moment ago
	waits  waits

	telling sync.Mutex  // held by who tells helpers that something waits
	told    atomic.Bool // nothing waits that a helper was not told of
	offered atomic.Bool // this process has put something into an outbox
}

// openRemotes opens the remotes in their order. It connects to nothing.
func (c *Cache) openRemotes() {
	c.remotes.told.Store(true)
	set, ok := c.settings.trust.Get("remotes")
	if !ok || c.settings.mode == ModeOff || c.settings.local {
		return
	}
	c.settings.remote.Program = c.settings.storageProgram()
	all, problems := remote.Parse(set.Value)
	for _, p := range problems {
		c.log.warn("remote "+p, "%s: %s", set.Source, p)
	}
	for _, s := range all {
		r := &Remote{URL: s.Shown(), Source: set.Source}
		c.remotes.named = append(c.remotes.named, r)
		client, err := remote.New(s, c.settings.remote)
		if err != nil {
			r.Refused = err.Error()
			c.warnRemote(r, "is not used: "+r.Refused)
			continue
		}
		r.client = client
		r.Reads = s.Unsigned || c.settings.keys.Any()
		r.Writes = !s.ReadOnly && c.store != nil && c.store.Refuses() == store.None
		c.remotes.used = append(c.remotes.used, r)
		if !r.Reads {
			c.warnRemote(r, "is not read: no key is trusted; see `jitcache trust`, or add |trust=unsigned")
		}
	}
}

// warnRemote warns of a remote, once per process and text.
func (c *Cache) warnRemote(r *Remote, what string) {
	text := "remote " + r.URL + " " + what
	c.log.warn(text, "%s", text)
}

// Remotes returns the remotes that the settings name, in their order, whether they are
// used or not.
func (c *Cache) Remotes() []*Remote { return c.remotes.named }

// fromRemotes asks the remotes for an entry, and lets it be copied if one has it. why is the reason of the
// miss so far.
func (c *Cache) fromRemotes(id *key.ID, why store.Reason) (*blob.Blob, store.Reason) {
	if len(c.remotes.used) == 0 || c.remotes.knownAbsent(id) {
		return nil, why
	}
	resting := store.None
	asked, lost := false, time.Duration(0)
	for _, r := range c.remotes.used {
		if !r.Reads {
			continue
		}
		b, reason, answered, paid := c.fromRemote(r, id)
		asked, lost = asked || answered, lost+paid
		if b != nil {
			if usesUncopied {
				c.copyLater(b)
				return b, store.None
			}
			if c.copyIn(b) {
				return b, store.None
			}
			b.Release()
			continue
		}
		switch {
		case reason == store.Absent:
		case reason == store.RemoteOff, reason == store.RemoteBudget:
			resting = reason
		case why == store.Absent || why == store.NoDirectory:
			why = reason
		}
	}
	if asked {
		c.remotes.noteAbsent(id, lost)
	}
	if why == store.Absent && resting != store.None && tellsResting {
		why = resting
	}
	return nil, why
}

// fromRemote returns the entry of a remote, if it is there and may be used: it is whole, has this
// key, and a trusted key has signed it or the remote may hold unsigned entries. answered says that
// the remote has answered, lost how much of the budget that took.
func (c *Cache) fromRemote(r *Remote, id *key.ID) (b *blob.Blob, why store.Reason, answered bool, lost time.Duration) {
	began := time.Now()
	_, _, awaited := c.remotes.waits.known(id)
	lost, err := r.client.Get(id, func(size int) []byte {
		if b, _ = blob.New(size); b == nil {
			return nil
		}
		return b.Buffer()
	}, awaited)
	if err == nil {
		if why = c.accept(r, b, id); why == store.None {
			return b, store.None, true, 0
		}
		r.client.Rejected(why.String())
		remote.Spent.Vain(time.Since(began))
		c.warnRemote(r, "has an entry that cannot be used: "+why.String())
	}
	if b != nil {
		b.Release()
	}
	switch {
	case err == nil:
		return nil, why, true, 0
	case errors.Is(err, remote.ErrAbsent):
		return nil, store.Absent, true, lost
	case remote.OfEntry(err):
		c.warnRemote(r, "has an entry that cannot be used: "+err.Error())
		return nil, store.Malformed, true, lost
	case !errors.Is(err, remote.ErrNotAsked) && !errors.Is(err, remote.ErrSpent):
		c.log.warn("remote "+r.URL+" fails", "remote %s fails: %v; programs go on without it", r.URL, err)
		_, err = r.client.Rests()
	}
	return nil, restingOf(err), false, 0
}

// restingOf turns the error of Rests into the reason for which a remote is not asked.
func restingOf(err error) store.Reason {
	if errors.Is(err, remote.ErrSpent) {
		return store.RemoteBudget
	}
	return store.RemoteOff
}

// resting returns why one of the remotes is not asked now, None if all that are read are.
func (c *Cache) resting() store.Reason {
	for _, r := range c.remotes.used {
		if _, err := r.client.Rests(); r.Reads && err != nil && tellsResting {
			return restingOf(err)
		}
	}
	return store.None
}

// accept returns why an entry of a remote is not used, None if it is.
func (c *Cache) accept(r *Remote, b *blob.Blob, id *key.ID) store.Reason {
	why := store.Parse(b, id)
	switch {
	case why != store.None:
		return why
	case checksRemotes && !r.client.Unsigned && !c.signed(b), c.withdrawn(b):
		return store.Signature
	}
	return store.None
}

// briefly is how long an absent entry is not asked for again: a lookup and the acquire after it
// are one question, and so are the repeated looks of a wait.
const briefly = time.Second

// mostAbsent is how many absent entries are remembered.
const mostAbsent = 4096

func (r *remotes) knownAbsent(id *key.ID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	was, ok := r.absent[*id]
	return ok && time.Since(was.at) < briefly
}

// absence is when an entry was asked for in vain, and what that has drawn from the budget.
type absence struct {
	at   time.Time
	lost time.Duration
}

// refund gives back what asking for a key has drawn from the budget: it was not in vain, because
// another machine compiles the key.
func (r *remotes) refund(id *key.ID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	was := r.absent[*id]
	if was.lost > 0 {
		remote.Spent.Vain(-was.lost)
		r.absent[*id] = absence{at: was.at}
	}
}

func (r *remotes) noteAbsent(id *key.ID, lost time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.absent == nil || len(r.absent) >= mostAbsent {
		r.absent = map[key.ID]absence{}
	}
	r.absent[*id] = absence{time.Now(), lost}
}

// forgetAbsences forgets all absences, so that every entry is asked for again.
func (r *remotes) forgetAbsences() {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.absent)
}

// offer notes an entry that was just stored in the outboxes of the remotes that take it. All of
// them take signed entries; unsigned ones go only to those that may hold them.
func (c *Cache) offer(id *key.ID) (waits bool) {
	for _, r := range c.remotes.used {
		if !r.Writes || !r.client.Unsigned && !c.bearsSignature(id) {
			continue
		}
		if e := c.store.Enqueue(r.client.Outbox(), id); e != 0 {
			c.warnRemote(r, "gets nothing: "+e.Error())
			continue
		}
		waits = true
	}
	if waits {
		c.remotes.offered.Store(true)
	}
	if waits && c.remotes.told.Swap(false) {
		go c.tellHelpers()
	}
	return waits
}

// Offer sends an entry of the directory to the remotes, as if it had just been stored. It reports
// whether any of them takes it. It does not wait for that; see FlushRemotes.
func (c *Cache) Offer(id *key.ID) bool { return c.offer(id) }

// bearsSignature reports whether anybody has signed an entry.
func (c *Cache) bearsSignature(id *key.ID) bool {
	b, why := c.store.Get(id)
	if why != store.None {
		return false
	}
	defer b.Release()
	return len(store.ReadRecords(b).Signatures) > 0
}

// telling is how long it may take to tell a helper, which may have to be started, that entries
// wait. If that fails, the next put or the next process tells it.
const telling = 500 * time.Millisecond

// tellHelpers tells the helpers that entries wait.
func (c *Cache) tellHelpers() {
	c.remotes.telling.Lock()
	defer c.remotes.telling.Unlock()
	if c.remotes.told.Swap(true) {
		return
	}
	for _, r := range c.remotes.used {
		if !r.Writes {
			continue
		}
		r.client.Upload(c.store.Outbox(r.client.Outbox()), telling)
	}
}

// Status returns the helper's description of itself, as JSON.
func (r *Remote) Status(within time.Duration) ([]byte, error) { return r.client.Status(within) }

// Sends reports whether results of this process are sent to a remote. They are not if they
// are not signed, and the remote wants signatures.
func (c *Cache) Sends(r *Remote) bool {
	return r.Writes && r.client != nil && (r.client.Unsigned || c.signer != nil)
}

// Waiting returns how many entries of the directory wait to be sent to a remote.
func (c *Cache) Waiting(r *Remote) int {
	if c.store == nil || r.client == nil {
		return 0
	}
	names, _ := os.ReadDir(c.store.Outbox(r.client.Outbox()))
	return len(names)
}

// ServeRemote becomes the helper of the first remote that is used.
func (c *Cache) ServeRemote() error {
	if len(c.remotes.used) == 0 {
		return errors.New("no remote is used")
	}
	return c.remotes.used[0].client.Serve()
}

// FlushRemotes waits until all entries are sent to all remotes, at most for within. It returns the
// URLs of the remotes for which entries still wait.
func (c *Cache) FlushRemotes(within time.Duration) (left []string) {
	return c.flushRemotes(within, true)
}

func (c *Cache) flushRemotes(within time.Duration, patient bool) (left []string) {
	end := time.Now().Add(within)
	for _, r := range c.remotes.used {
		if !r.Writes {
			continue
		}
		if done, err := r.client.Flush(c.store.Outbox(r.client.Outbox()), time.Until(end), patient); !done || err != nil {
			left = append(left, r.URL)
		}
	}
	return left
}
