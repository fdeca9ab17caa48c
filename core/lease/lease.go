// Package lease lets one of many compile: each key has one holder at a time, among
// the threads of a process and the processes of a machine.
//
// Threads of a process meet in a table. Processes meet at a lock file per key
// (package lockfile), which the kernel frees when its holder dies. A lease only
// saves work. A caller that cannot get one in reasonable time compiles without it,
// and the result is right either way, because entries are replaced by rename.
package lease

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"sync"
	"time"

	"jitcache/core/key"
	"jitcache/core/lockfile"
)

// HolderLimit is how long a holder may take before others compile too; some compiles
// take ten minutes (large template instantiations, viscoelastic solvers). LostLimit is
// the same for a holder that is stopped, or that is gone while its lock is still held,
// by a forked child for example: it is not expected to come back.
const (
	HolderLimit = 30 * time.Minute
	LostLimit   = 10 * time.Second
)

// A waiter tries the lock at intervals, because flock has no timed wait. They grow from
// firstPoll, shorter than the shortest compile (20 ms), to lastPoll, and where the wait is
// long to a part of it, longestPoll at most: 40 processes that waited for ten seconds took
// 4.9 s of processor time with a try every 25 ms, and 1.5 s so.
const (
	firstPoll   = 2 * time.Millisecond
	lastPoll    = 25 * time.Millisecond
	longestPoll = 100 * time.Millisecond
	partOfWait  = 32
)

// maxLevel bounds the number of holders of one key that outlive their limit. Beyond it
// everybody compiles.
const maxLevel = 16

// Locker has the lock files. TryLock and ReadLock are lockfile.Try and lockfile.Read in
// a folder that the Locker chooses.
type Locker interface {
	TryLock(name string, sign func() string) (*lockfile.Lock, error)
	ReadLock(name string) (text string, changed time.Time, err error)
}

// Table has the leases of one cache in this process. The zero value has no lock files.
type Table struct {
	Locks Locker // nil: leases hold only among the threads of this process
	// Unsupported, if set, is called when lock files turn out not to work.
	Unsupported func(error)
	// Waiting, if set, is called once per key and holder, after LostLimit.
	Waiting func(id key.ID, h Holder, waited time.Duration)
	// clock, if set, is what tests move in place of waiting for HolderLimit and LostLimit.
	clock func() time.Time

	mu       sync.Mutex
	inflight map[slot]*inflight
	watched  map[slot]watched
}

// slot is a key and the level of the lease on it. The level is 0; it is higher if the
// holders of all lower levels have outlived their limit.
type slot struct {
	id    key.ID
	level int
}

func (s slot) lockName() string {
	if s.level == 0 {
		return s.id.String()
	}
	return s.id.String() + "." + strconv.Itoa(s.level)
}

// inflight is a lease that this process holds or waits for.
type inflight struct {
	since time.Time
	held  bool
	done  chan struct{} // closed when it ends
}

// Lease is the right to compile one key.
type Lease struct {
	table    *Table
	slot     slot
	inflight *inflight
	lock     *lockfile.Lock
	once     sync.Once
}

// Holder is the text of a lock file: who holds the lock. Anybody who may write the
// folder can write that text. So it is only shown to people, except for Owner, about
// which the kernel is asked.
type Holder struct {
	lockfile.Owner
	Since time.Time
	Name  string // of the key
}

// watched is a holder in another process that this one waits for.
type watched struct {
	holder  string
	changed time.Time // when its lock file was last changed, by the file system's clock
	first   time.Time // when this process first saw it
	lost    time.Time // since when it is stopped or gone; zero if it is neither
	told    bool      // Waiting was called
}

// Outcome is the outcome of Acquire.
type Outcome int

// The outcomes.
const (
	Granted Outcome = iota // the caller has the lease
	Look                   // a lease has ended: look for the entry, then call again
	Busy                   // another thread or process still has it
)

// Acquire tries to get the lease on id until the deadline. After each wait it calls
// found to ask whether the entry is there now; if it is, the outcome is Look. name is
// shown to people who wait.
func (t *Table) Acquire(id key.ID, name string, deadline time.Time, found func() bool) (*Lease, Outcome) {
	if !enabled {
		return nil, Granted
	}
	for level := range maxLevel {
		at := slot{id, level}
		f, mine := t.join(at)
		if !mine {
			outcome, expired := t.waitHere(f, deadline)
			if expired {
				continue
			}
			return nil, outcome
		}
		l, outcome, expired := t.lockThere(at, f, name, deadline, found)
		if expired {
			continue
		}
		return l, outcome
	}
	return nil, Granted
}

func (t *Table) now() time.Time {
	if t.clock != nil {
		return t.clock()
	}
	return time.Now()
}

// join returns the lease of a slot. If it is new, mine is true, and the caller must get
// the lock file or end it.
func (t *Table) join(at slot) (f *inflight, mine bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if f := t.inflight[at]; f != nil {
		return f, false
	}
	if t.inflight == nil {
		t.inflight = make(map[slot]*inflight)
		t.watched = make(map[slot]watched)
	}
	f = &inflight{since: t.now(), done: make(chan struct{})}
	t.inflight[at] = f
	return f, true
}

// waitHere waits for another thread of this process. expired says that the holder has
// outlived its limit.
func (t *Table) waitHere(f *inflight, deadline time.Time) (outcome Outcome, expired bool) {
	t.mu.Lock()
	held, since := f.held, f.since
	t.mu.Unlock()
	if held && t.now().Sub(since) > HolderLimit {
		return Busy, true
	}
	timer := time.NewTimer(time.Until(deadline))
	defer timer.Stop()
	select {
	case <-f.done:
		return Look, false
	case <-timer.C:
		return Busy, false
	}
}

// lockThere waits for the lock file. Other threads of this process that want the same
// slot wait for this one. expired says that the holder has outlived its limit.
func (t *Table) lockThere(at slot, f *inflight, name string, deadline time.Time, found func() bool) (l *Lease, outcome Outcome, expired bool) {
	l = &Lease{table: t, slot: at, inflight: f}
	pause := firstPoll
	for first := true; ; first = false {
		lock, err := t.tryLock(at, name)
		var outlived bool
		var waited time.Duration
		if lock == nil && err == nil {
			outlived, waited = t.outlived(at)
		}
		switch {
		case lock != nil || err != nil:
			// Another holder may have finished since the caller has looked.
			if found() {
				l.lock = lock
				l.Release()
				return nil, Look, false
			}
			t.hold(l, lock)
			return l, Granted, false
		case outlived:
			t.endInflight(f, at)
			return nil, Busy, true
		case !first && found():
			t.forgetHolders(at.id)
			t.endInflight(f, at)
			return nil, Look, false
		}
		left := time.Until(deadline)
		if left <= 0 {
			t.endInflight(f, at)
			return nil, Busy, false
		}
		if growsPauses {
			pause = max(pause, min(waited/partOfWait, longestPoll))
		}
		time.Sleep(min(pause, left))
		pause = min(pause*2, lastPoll)
	}
}

// tryLock tries to take a lock file. An error means that there are no lock files here;
// then the lease is granted without one.
func (t *Table) tryLock(at slot, name string) (*lockfile.Lock, error) {
	if t.Locks == nil {
		return nil, lockfile.ErrUnsupported
	}
	sign := func() string { return Holder{lockfile.Self(), time.Now(), name}.String() }
	lock, err := t.Locks.TryLock(at.lockName(), sign)
	if err != nil && t.Unsupported != nil {
		t.Unsupported(err)
	}
	return lock, err
}

func (t *Table) hold(l *Lease, lock *lockfile.Lock) {
	t.mu.Lock()
	l.lock = lock
	l.inflight.held, l.inflight.since = true, t.now()
	t.mu.Unlock()
	t.forgetHolders(l.slot.id)
}

// forgetHolders drops what was noted about other holders of a key that is now free.
func (t *Table) forgetHolders(id key.ID) {
	t.mu.Lock()
	for level := 0; level < maxLevel && len(t.watched) > 0; level++ {
		delete(t.watched, slot{id, level})
	}
	t.mu.Unlock()
}

func (t *Table) endInflight(f *inflight, at slot) {
	t.mu.Lock()
	if t.inflight[at] == f {
		delete(t.inflight, at)
	}
	t.mu.Unlock()
	close(f.done)
}

// Release gives the lease up. It may be called more than once and on nil.
func (l *Lease) Release() {
	if l == nil {
		return
	}
	l.once.Do(func() {
		if l.lock != nil {
			l.lock.Remove()
		}
		l.table.endInflight(l.inflight, l.slot)
	})
}

// unsigned stands for the holder of a lock file without a holder's text.
const unsigned = "?"

// outlived reports whether the holder of a slot, in another process, has outlived its
// limit, and how long it has had so far. Its time begins when its lock file was signed,
// by the kernel's clock, or when this process first saw it. The time in the file's text is
// not used, because another user may have written it.
func (t *Table) outlived(at slot) (outlived bool, waited time.Duration) {
	text, changed, err := t.Locks.ReadLock(at.lockName())
	if errors.Is(err, fs.ErrNotExist) {
		return false, 0 // just removed
	}
	h, err := ParseHolder(text)
	// A lock that was just taken is not signed yet. If it stays unsigned, its holder was
	// stopped right then, or the disk is full: nobody knows whether it will come back.
	who, state := unsigned, lockfile.Gone
	if err == nil {
		who, state = h.Owner.String(), h.State()
	}
	now := t.now()
	t.mu.Lock()
	w := t.watched[at]
	first := w.holder != who || !w.changed.Equal(changed)
	if w.holder != who {
		w = watched{holder: who, first: now}
	}
	w.changed = changed
	waited = now.Sub(w.first)
	// At the first look the file may still have the text and time of the last holder.
	if age := now.Sub(changed); !first && who != unsigned && age > waited {
		waited = age
	}
	if !ownClock {
		waited = now.Sub(h.Since)
	}
	if state != lockfile.Stopped && state != lockfile.Gone {
		w.lost = time.Time{}
	} else if w.lost.IsZero() {
		w.lost = now
	}
	tell := !w.told && who != unsigned && now.Sub(w.first) > LostLimit
	w.told = w.told || tell
	t.watched[at] = w
	t.mu.Unlock()
	if tell && t.Waiting != nil {
		t.Waiting(at.id, h, waited)
	}
	return waited > HolderLimit || !w.lost.IsZero() && now.Sub(w.lost) > LostLimit, waited
}

// String returns the holder as the text of a lock file: owner, time, name.
func (h Holder) String() string {
	return fmt.Sprintf("%s %d %s\n", h.Owner, h.Since.UnixNano(), h.Name)
}

// ParseHolder reads the text of a lock file.
func ParseHolder(text string) (Holder, error) {
	owner, rest, _ := strings.Cut(strings.TrimSuffix(text, "\n"), " ")
	since, name, _ := strings.Cut(rest, " ")
	o, ok := lockfile.ParseOwner(owner)
	ns, err := strconv.ParseInt(since, 10, 64)
	if !ok || err != nil {
		return Holder{}, errors.New("lock file without a holder")
	}
	return Holder{o, time.Unix(0, ns), name}, nil
}

// Descriptor returns the path of the lease's lock file and the descriptor that holds
// the lock; "" and -1 if nothing is locked.
func (l *Lease) Descriptor() (path string, fd int) {
	if l == nil || l.lock == nil {
		return "", -1
	}
	return l.lock.Descriptor()
}
