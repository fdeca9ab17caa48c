// Package lease lets one of many compile: per key one holder at a time, among
// the threads of a process and the processes of a machine.
//
// Ring one is a table in the process, ring two a lock file per key (package
// lockfile), which the kernel frees when its holder dies. A lease only ever
// saves work. Whoever cannot get one within reason compiles all the same, and
// the result is right either way: entries are replaced whole, by rename.
package lease

import (
	"cmp"
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

// A holder may take this long before others compile too. Some compiles take ten
// minutes (large template instantiations, viscoelastic solvers); a holder that is
// stopped or gone while its lock lives on, in a forked child say, will not
// come back.
const (
	HolderLimit = 30 * time.Minute
	LostLimit   = 10 * time.Second
)

// A waiter tries the lock at these intervals: flock has no timed wait. The
// first is shorter than the shortest compile (20 ms), the last keeps a thousand
// ranks from hammering one directory.
const (
	firstPoll = 2 * time.Millisecond
	lastPoll  = 25 * time.Millisecond
)

// maxLevel bounds how many holders of one key may be given up on. Beyond it
// everybody compiles.
const maxLevel = 16

// Locker provides the lock files: TryLock and ReadLock are lockfile.Try and
// lockfile.Read for a folder that it chooses.
type Locker interface {
	TryLock(name string, sign func() string) (*lockfile.Lock, error)
	ReadLock(name string) (text string, changed time.Time, err error)
}

// Table has the leases of one cache in this process. The zero value has no ring
// two.
type Table struct {
	Locks Locker // nil: only threads of this process
	// Unsupported, if set, is called when lock files turn out not to work.
	Unsupported func(error)
	// Waiting, if set, is called once per key and holder, after LostLimit.
	Waiting func(id key.ID, h Holder, waited time.Duration)
	// Tests shorten the limits; 0 is HolderLimit and LostLimit.
	holderLimit, lostLimit time.Duration

	mu       sync.Mutex
	inflight map[slot]*inflight
	watched  map[slot]watched
}

// slot is a key and the level of the lease on it: 0, or more if holders of the
// levels below have outlived their limit.
type slot struct {
	id    key.ID
	level int
}

func (s slot) name() string {
	if s.level == 0 {
		return s.id.String()
	}
	return s.id.String() + "." + strconv.Itoa(s.level)
}

// inflight is a lease that this process seeks or holds.
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

// Holder is what a lock file says about its holder. Anybody who may write the folder
// can write that, so it is only shown to people; except the owner, which the kernel
// is asked about.
type Holder struct {
	lockfile.Owner
	Since time.Time
	Name  string // of the key
}

// watched is a holder in another process that this one waits for.
type watched struct {
	holder  string
	changed time.Time // when its lock file was, by the file system's clock
	first   time.Time // when it was first seen
	lost    time.Time // since when it is stopped or gone; zero if it is not
	told    bool      // Waiting was called
}

// Outcome is what Acquire has come to.
type Outcome int

// The outcomes.
const (
	Granted Outcome = iota // the caller has the lease
	Look                   // something has ended: look for the entry, then come again
	Busy                   // somebody else still has it
)

// Acquire tries to get the lease on id until the deadline. After each wait it asks
// found whether the entry is there by now; then the outcome is Look. name is for
// the people who wait.
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

// join returns the lease of a slot, and whether it is new: then the caller must
// seek it.
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
	f = &inflight{since: time.Now(), done: make(chan struct{})}
	t.inflight[at] = f
	return f, true
}

// waitHere waits for another thread of this process.
func (t *Table) waitHere(f *inflight, deadline time.Time) (outcome Outcome, expired bool) {
	t.mu.Lock()
	held, since := f.held, f.since
	t.mu.Unlock()
	if held && time.Since(since) > cmp.Or(t.holderLimit, HolderLimit) {
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

// lockThere waits for the lock file, for all threads of this process that want
// the same.
func (t *Table) lockThere(at slot, f *inflight, name string, deadline time.Time, found func() bool) (l *Lease, outcome Outcome, expired bool) {
	l = &Lease{table: t, slot: at, inflight: f}
	pause := firstPoll
	for first := true; ; first = false {
		lock, err := t.tryLock(at, name)
		switch {
		case lock != nil || err != nil:
			// Between the caller's look and the lock another may have finished.
			if found() {
				l.lock = lock
				l.Release()
				return nil, Look, false
			}
			t.hold(l, lock)
			return l, Granted, false
		case t.outlived(at):
			t.end(f, at)
			return nil, Busy, true
		case !first && found():
			t.forget(at.id)
			t.end(f, at)
			return nil, Look, false
		}
		left := time.Until(deadline)
		if left <= 0 {
			t.end(f, at)
			return nil, Busy, false
		}
		time.Sleep(min(pause, left))
		pause = min(pause*2, lastPoll)
	}
}

// tryLock returns an error, which is not a failure, if there is nothing to lock.
func (t *Table) tryLock(at slot, name string) (*lockfile.Lock, error) {
	if t.Locks == nil {
		return nil, lockfile.ErrUnsupported
	}
	sign := func() string { return Holder{lockfile.Self(), time.Now(), name}.String() }
	lock, err := t.Locks.TryLock(at.name(), sign)
	if err != nil && t.Unsupported != nil {
		t.Unsupported(err)
	}
	return lock, err
}

func (t *Table) hold(l *Lease, lock *lockfile.Lock) {
	t.mu.Lock()
	l.lock = lock
	l.inflight.held, l.inflight.since = true, time.Now()
	t.mu.Unlock()
	t.forget(l.slot.id)
}

// forget drops what was noted about the holders of a key that is free now.
func (t *Table) forget(id key.ID) {
	t.mu.Lock()
	for level := 0; level < maxLevel && len(t.watched) > 0; level++ {
		delete(t.watched, slot{id, level})
	}
	t.mu.Unlock()
}

func (t *Table) end(f *inflight, at slot) {
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
		l.table.end(l.inflight, l.slot)
	})
}

// unsigned stands for the holder of a lock file that names none.
const unsigned = "?"

// outlived reports whether the holder of a slot, in another process, has had its
// time. The time runs from when its lock file was signed, by the kernel's clock, or
// from when this process first saw it. The time in the file itself is not used,
// because somebody else wrote it.
func (t *Table) outlived(at slot) bool {
	text, changed, err := t.Locks.ReadLock(at.name())
	if errors.Is(err, fs.ErrNotExist) {
		return false // just removed
	}
	h, err := ParseHolder(text)
	// A lock that was just taken is not signed yet. One that stays unsigned was
	// taken by a process that was stopped there and then, or on a full disk:
	// nobody knows whether its holder will come back.
	who, state := unsigned, lockfile.Gone
	if err == nil {
		who, state = h.Owner.String(), h.State()
	}
	now := time.Now()
	t.mu.Lock()
	w := t.watched[at]
	first := w.holder != who || !w.changed.Equal(changed)
	if w.holder != who {
		w = watched{holder: who, first: now}
	}
	w.changed = changed
	waited := now.Sub(w.first)
	// At the first look the file may still be what the last holder has left.
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
	lostLimit := cmp.Or(t.lostLimit, LostLimit)
	tell := !w.told && who != unsigned && now.Sub(w.first) > lostLimit
	w.told = w.told || tell
	t.watched[at] = w
	t.mu.Unlock()
	if tell && t.Waiting != nil {
		t.Waiting(at.id, h, waited)
	}
	return waited > cmp.Or(t.holderLimit, HolderLimit) || !w.lost.IsZero() && now.Sub(w.lost) > lostLimit
}

// String returns the holder as a lock file holds it: owner, time, name.
func (h Holder) String() string {
	return fmt.Sprintf("%s %d %s\n", h.Owner, h.Since.UnixNano(), h.Name)
}

// ParseHolder reads what a lock file says.
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

// Descriptor returns the path of the lease's file and the descriptor that holds it,
// -1 if nothing is locked.
func (l *Lease) Descriptor() (path string, fd int) {
	if l == nil || l.lock == nil {
		return "", -1
	}
	return l.lock.Descriptor()
}
