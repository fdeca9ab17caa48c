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

// Options are what remotes of a cache have in common.
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

// Errors of Get, beside what the helper says.
var (
	// ErrAbsent: there is no such entry.
	ErrAbsent = errors.New("absent")
	// ErrNotAsked: the remote has failed a moment ago.
	ErrNotAsked = errors.New("not asked")
	// ErrSpent: the budget of this process is spent.
	ErrSpent = errors.New("not asked: the budget is spent")
)

// epoch is what the times of a Remote are counted from: the clock of the machine may be
// set, this one goes on.
var epoch = time.Now()

// New returns a remote. It asks and starts nothing.
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

// Outbox returns the name of the folder in which entries wait to be put there.
func (r *Remote) Outbox() string {
	return short(append([]string{r.URL}, r.Attributes...)) + "." + r.segment
}

// short is a digest of texts, 16 digits.
func short(texts []string) string {
	return key.ID(key.Sum(key.AppendTexts(nil, texts...))).String()[:16]
}

// Asks reports whether Get would ask: a look at two numbers.
func (r *Remote) Asks() bool {
	_, err := r.Rests()
	return err == nil
}

// Rests returns for how long Get will not ask, and the error that it would return: 0 and nil
// if it would ask. A budget that is spent is said to be, also where that was one failure.
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

// reckoned is for how long a budget that is spent is taken to be: every compile adds to it.
const reckoned = 100 * time.Millisecond

// Get asks for an entry. It calls room once with its size, and fills what that returns;
// nil ends it. It waits no longer than the budget allows. lost is what that has paid, for
// who learns that it was not in vain.
//
// awaited says that another machine makes the entry, or has made it, and was alive a moment
// ago. Then the budget does not count: without an answer the same would be compiled here.
func (r *Remote) Get(id *key.ID, room func(size int) []byte, awaited bool) (lost time.Duration, err error) {
	most := mostRequest
	if !awaited || !waitsForLiving {
		if _, err := r.Rests(); err != nil {
			return 0, err
		}
		most = min(Spent.Left(), mostRequest)
	}
	began := time.Now()
	late, err := r.get(id, room, began.Add(most))
	if err != nil && !(awaited && waitsForLiving) {
		lost = time.Since(began) - late
		Spent.Vain(lost)
	}
	r.saw(err)
	return lost, err
}

// mostRequest is the longest that a request may take, however much has been compiled.
const mostRequest = 10 * time.Second

func (r *Remote) get(id *key.ID, room func(size int) []byte, deadline time.Time) (late time.Duration, err error) {
	request := wire.AppendText([]byte{wire.Get}, "jitcache/1/"+r.segment+"/"+id.String())
	c := r.kept.take(deadline)
	if c != nil && !c.answers(request) {
		c.close()
		c = nil
	}
	if c == nil {
		// Every helper knows this request, so it need not be waited for until it has greeted:
		// who waits twice is woken twice.
		if c, err = r.connectWith(deadline, request); err != nil {
			return 0, err
		}
	}
	err = c.get(room)
	late = c.late
	r.kept.leave(c, err)
	return late, err
}

// get reads the answer to a Get that was sent.
func (c *conn) get(room func(size int) []byte) error {
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

// After a failure nothing is asked for a while: each process finds out by itself.
const (
	firstPause = time.Second
	lastPause  = time.Minute
)

// OfEntry reports whether an error of Get is of this entry alone.
func OfEntry(err error) bool {
	var refused wire.Refused
	return errors.As(err, &refused) && refused.OfEntry()
}

// saw notes what a request has come to.
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
		dir, err := r.place()
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
	lock, err := r.start()
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

// starting is how long a helper may take to start: 10 ms, on a machine that has time.
const starting = 500 * time.Millisecond

// again is how soon a helper is started again: one that ends at once cannot work.
const again = 2 * time.Second

// start starts a helper, unless this process has done so a moment ago, or another one is
// about to. The caller unlocks the lock, which may be nil, once it answers. Of several
// helpers for one socket all but one end at once.
func (r *Remote) start() (*lockfile.Lock, error) {
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

// Upload tells the helper that something waits in an outbox, whose path this is. It
// waits no longer than a while: the next one who tells takes it along.
func (r *Remote) Upload(outbox string, within time.Duration) error {
	c, err := r.connect(time.Now().Add(within))
	if err != nil {
		return err
	}
	defer c.close()
	if !c.greeting.Jitcache {
		return errors.New("the helper is not jitcache's")
	}
	_, err = c.ask(wire.AppendValue([]byte{wire.Upload}, []byte(outbox)))
	return err
}

// Flush waits until nothing waits in an outbox any more, at most for a while, and
// reports whether nothing does. It waits for a remote that is down only if it is patient.
func (r *Remote) Flush(outbox string, within time.Duration, patient bool) (bool, error) {
	c, err := r.connect(time.Now().Add(within + time.Second))
	if err != nil {
		return false, err
	}
	defer c.close()
	if !c.greeting.Jitcache {
		return false, errors.New("the helper is not jitcache's")
	}
	request := wire.AppendValue([]byte{wire.Flush}, []byte(outbox))
	request = append(wire.AppendSize(request, uint64(within/time.Millisecond)), 1)
	if patient {
		request[len(request)-1] = 0
	}
	status, err := c.ask(request)
	return err == nil && status == wire.OK, err
}

// Rejected tells the helper why what it gave was not used, for what it counts.
func (r *Remote) Rejected(why string) {
	c, err := r.connect(time.Now().Add(min(Spent.Left(), telling)))
	if err != nil {
		return
	}
	defer c.close()
	if c.greeting.Jitcache {
		c.ask(wire.AppendText([]byte{wire.Rejected}, why))
	}
}

// Status returns what the helper says of itself, JSON.
func (r *Remote) Status(within time.Duration) ([]byte, error) {
	c, err := r.connect(time.Now().Add(within))
	if err != nil {
		return nil, err
	}
	defer c.close()
	if !c.greeting.Jitcache {
		return nil, errors.New("the helper is not jitcache's")
	}
	if _, err := c.ask([]byte{wire.Status}); err != nil {
		return nil, err
	}
	return wire.ReadValue(c, 1<<20)
}
