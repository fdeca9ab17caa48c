// Remote: requests to the helper of one remote, and for how long it is not asked after a failure.

package remote

import (
	"errors"
	"io"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"jitcache/core/key"
	"jitcache/core/lockfile"
	"jitcache/core/wire"
)

// Options are common to all remotes of a cache.
type Options struct {
	Namespace string                   // in every name
	Folder    string                   // of the sockets: on this node, and this user's
	Program   string                   // path of jitcache-storage, "" if there is none
	Env       func(name string) string // what of the environment a helper gets
}

// Remote is one remote. Its methods may be called from any goroutine, but not in a
// forked child.
type Remote struct {
	Setting
	options Options
	segment string // the namespace

	once   sync.Once
	socket string // "" if there can be none
	why    error  // why not

	starting sync.Mutex   // held by who starts a helper
	started  time.Time    // under starting
	off      atomic.Int64 // until when nothing is asked, in nanoseconds since epoch
	failures atomic.Int32 // in a row

	claimless atomic.Int64 // until when no claim is asked for, as off

	kept kept
}

// Errors of Get, beside those of the helper.
var (
	// ErrAbsent: there is no such entry.
	ErrAbsent = errors.New("absent")
	// ErrNotAsked: the remote has failed a moment ago.
	ErrNotAsked = errors.New("not asked")
	// ErrSpent: the budget of this process is spent.
	ErrSpent = errors.New("not asked: this process may wait for remotes no longer")
)

// epoch is the origin of the times of a Remote. They are monotonic: the machine's clock may be set.
var epoch = time.Now()

// New returns a remote. It connects to nothing and starts nothing.
func New(s Setting, o Options) (*Remote, error) {
	segment := Segment(o.Namespace)
	if len(segment) > MostSegment {
		return nil, errors.New("the namespace is too long for remotes")
	}
	if o.Program == "" {
		return nil, errors.New("there is no jitcache-storage beside the library")
	}
	return &Remote{Setting: s, options: o, segment: segment}, nil
}

// Outbox returns the name of the folder in which entries for this remote are noted.
func (r *Remote) Outbox() string {
	return short(append([]string{r.URL}, r.Attributes...)) + "." + r.segment
}

// Asks reports whether Get would ask the helper. It only reads two numbers.
func (r *Remote) Asks() bool {
	_, err := r.Rests()
	return err == nil
}

// Rests returns for how long Get will not ask, and the error that it would return; 0 and nil if it
// would ask. If the budget is spent it says so, even if a single failure has spent it.
func (r *Remote) Rests() (time.Duration, error) {
	left, spent := time.Duration(r.off.Load())-time.Since(epoch), Spent.Left() <= 0
	switch {
	case spent:
		return max(left, reckoned), ErrSpent
	case left > 0:
		return left, ErrNotAsked
	}
	return 0, nil
}

// reckoned is how long a spent budget is taken to stay spent. Every compile adds to it.
const reckoned = 100 * time.Millisecond

// Get asks for an entry. It calls room once with the entry's size, and fills the memory that room
// returns; nil ends the request. It waits no longer than the budget allows. lost is what it has
// drawn from the budget, so that a caller who learns that the wait was not in vain can give it back.
//
// awaited says that another machine compiles the entry, or has compiled it, and was alive a moment
// ago. The budget does not apply then: without an answer the same would be compiled here.
func (r *Remote) Get(id *key.ID, room func(size int) []byte, awaited bool) (lost time.Duration, err error) {
	most := mostRequest
	if !awaited || !waitsForLiving {
		if _, err := r.Rests(); err != nil {
			return 0, err
		}
		most = min(Spent.Left(), mostRequest)
	}
	began := time.Now()
	late, err := r.getValue(id, room, began.Add(most))
	if err != nil && !(awaited && waitsForLiving) {
		lost = time.Since(began) - late
		Spent.Vain(lost)
	}
	r.saw(err)
	return lost, err
}

// mostRequest is the longest that a request may take, whatever the budget.
const mostRequest = 10 * time.Second

func (r *Remote) getValue(id *key.ID, room func(size int) []byte, deadline time.Time) (late time.Duration, err error) {
	request := wire.AppendText([]byte{wire.Get}, "jitcache/1/"+r.segment+"/"+id.String())
	c := r.kept.takeConn(deadline)
	if c != nil && !c.answers(request) {
		c.closeSocket()
		c = nil
	}
	if c == nil {
		// Every helper knows this request, so it is sent without waiting for the greeting: a
		// second wait would cost a second wake.
		if c, err = r.connectWith(deadline, request); err != nil {
			return 0, err
		}
	}
	err = c.readValue(room)
	late = c.late
	r.kept.leaveConn(c, err)
	return late, err
}

// readValue reads the answer to a Get that was sent.
func (c *conn) readValue(room func(size int) []byte) error {
	status, err := wire.ReadStatus(c)
	switch {
	case err != nil:
		return err
	case status == wire.Noop:
		return ErrAbsent
	}
	n, err := wire.ReadLength(c, wire.MaxValue)
	if err != nil {
		return err
	}
	b := room(n)
	if b == nil {
		return errors.New("no memory")
	}
	_, err = io.ReadFull(c, b)
	return err
}

// After a failure nothing is asked for a while. Each process finds out by itself.
const (
	firstPause = time.Second
	lastPause  = time.Minute
)

// OfEntry reports whether an error of Get concerns this entry alone.
func OfEntry(err error) bool {
	var refused wire.Refused
	return errors.As(err, &refused) && refused.OfEntry()
}

// saw notes the result of a request.
func (r *Remote) saw(err error) {
	if err == nil || errors.Is(err, ErrAbsent) || OfEntry(err) && goesOnAfterOne {
		r.failures.Store(0)
		return
	}
	n := r.failures.Add(1)
	pause := min(firstPause<<min(n-1, 10), lastPause)
	r.off.Store(int64(time.Since(epoch) + pause))
}

// connect connects to the helper, and starts one if there is none.
func (r *Remote) connect(deadline time.Time) (*conn, error) { return r.connectWith(deadline, nil) }

// connectWith is connect that sends a request before the helper has greeted.
func (r *Remote) connectWith(deadline time.Time, first []byte) (*conn, error) {
	r.once.Do(func() {
		dir, err := r.socketPath()
		if err != nil {
			r.why = err
			return
		}
		r.socket = dir + "/" + r.socketName(r.environment())
	})
	if r.socket == "" {
		return nil, r.why
	}
	c, err := dial(r.socket, deadline, first)
	if err != errNoHelper {
		return c, err
	}
	lock, err := r.startHelper()
	if lock != nil {
		defer lock.Unlock()
	}
	if err != nil {
		return nil, err
	}
	end := time.Now().Add(starting)
	if end.After(deadline) {
		end = deadline
	}
	for wait := time.Millisecond; ; wait = min(2*wait, 8*time.Millisecond) {
		time.Sleep(wait)
		if c, err = dial(r.socket, deadline, first); err != errNoHelper || time.Now().After(end) {
			return c, err
		}
	}
}

// starting is how long a helper may take to start. It takes 10 ms on an idle machine.
const starting = 500 * time.Millisecond

// again is how soon a helper may be started again: one that ends at once cannot work.
const again = 2 * time.Second

// startHelper starts a helper, unless this process has done so a moment ago or another process is doing
// it. The caller releases the lock, which may be nil, once the helper answers. If several helpers
// start for one socket, all but one end at once.
func (r *Remote) startHelper() (*lockfile.Lock, error) {
	r.starting.Lock()
	defer r.starting.Unlock()
	if !r.started.IsZero() && time.Since(r.started) < again {
		return nil, nil
	}
	dir, name := filepath.Split(r.socket)
	folder := func() (int, error) {
		return unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	}
	lock, err := lockfile.Try(folder, name, 0o600, nil)
	if lock == nil && err == nil {
		return nil, nil
	}
	if err = startHelper(r.options.Program, append(r.environment(), "CRSH_IPC_ENDPOINT="+r.socket)); err == nil || !knowsNotStarted {
		r.started, err = time.Now(), nil
	}
	return lock, err
}

// Upload tells the helper that the outbox at this path has entries. It waits for at most within:
// the next call tells the helper of the same entries.
func (r *Remote) Upload(outbox string, within time.Duration) error {
	c, err := r.connect(time.Now().Add(within))
	if err != nil {
		return err
	}
	defer c.closeSocket()
	if !c.greeting.Jitcache {
		return errors.New("the program at the helper's socket is not jitcache's")
	}
	_, err = c.askStatus(wire.AppendValue([]byte{wire.Upload}, []byte(outbox)))
	return err
}

// Flush waits until the outbox is empty, at most for within, and reports whether it is. It waits
// for a remote that is down only if patient is set.
func (r *Remote) Flush(outbox string, within time.Duration, patient bool) (bool, error) {
	c, err := r.connect(time.Now().Add(within + time.Second))
	if err != nil {
		return false, err
	}
	defer c.closeSocket()
	if !c.greeting.Jitcache {
		return false, errors.New("the program at the helper's socket is not jitcache's")
	}
	request := wire.AppendValue([]byte{wire.Flush}, []byte(outbox))
	request = append(wire.AppendSize(request, uint64(within/time.Millisecond)), 1)
	if patient {
		request[len(request)-1] = 0
	}
	status, err := c.askStatus(request)
	return err == nil && status == wire.OK, err
}

// Rejected tells the helper why an entry of it was not used, for its counters.
func (r *Remote) Rejected(why string) {
	c, err := r.connect(time.Now().Add(min(Spent.Left(), telling)))
	if err != nil {
		return
	}
	defer c.closeSocket()
	if c.greeting.Jitcache {
		c.askStatus(wire.AppendText([]byte{wire.Rejected}, why))
	}
}

// Status returns the helper's description of itself, as JSON.
func (r *Remote) Status(within time.Duration) ([]byte, error) {
	c, err := r.connect(time.Now().Add(within))
	if err != nil {
		return nil, err
	}
	defer c.closeSocket()
	if !c.greeting.Jitcache {
		return nil, errors.New("the program at the helper's socket is not jitcache's")
	}
	if _, err := c.askStatus([]byte{wire.Status}); err != nil {
		return nil, err
	}
	return wire.ReadValue(c, 1<<20)
}
