package store

import (
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"jitcache/core/lockfile"
)

// What dead processes leave behind: temporary files of puts, pinned names, lock
// files. A name begins with its owner (lockfile.Owner); what belongs to a
// process that is gone is removed, and what belongs to one that cannot be seen
// from here once it is old.
const (
	sweepEvery = int64(24 * time.Hour)
	staleTemp  = int64(time.Hour)          // a put takes milliseconds
	staleOpen  = int64(7 * 24 * time.Hour) // a pinned name lasts as long as its process
	staleLock  = int64(24 * time.Hour)     // an idle lock file costs nothing
)

// sweepDaily sweeps once a day per directory, in some put.
func (s *Store) sweepDaily(l *ledger) {
	now := s.now()
	if age := now - l.swept; age > sweepEvery || age < -sweepEvery {
		first := l.swept == 0
		l.swept = now
		if !first {
			s.sweep()
		}
	}
}

// sweep removes leftovers.
func (s *Store) sweep() {
	s.sweepDir("tmp", staleTemp)
	s.sweepDir("open", staleOpen)
	s.sweepLocks()
}

// sweepDir removes from tmp or open what has no living owner.
func (s *Store) sweepDir(rel string, stale int64) {
	dir, e := s.openDirBelow(rel)
	if e != 0 {
		return
	}
	defer closeFd(dir)
	names, err := readNames(dir)
	if err != nil {
		return
	}
	now := s.now()
	for _, name := range names {
		owner, ok := lockfile.ParseOwner(name)
		state := lockfile.Unknown
		if ok {
			state = owner.State()
		}
		switch state {
		case lockfile.Running, lockfile.Stopped:
			continue
		case lockfile.Unknown:
			// Its change time: a pinned name has the entry's own mtime.
			var st unix.Stat_t
			if fstatat(dir, name, &st) != 0 || now-st.Ctim.Nano() < stale {
				continue
			}
		}
		if unlinkat(dir, name, 0) == unix.EISDIR {
			os.RemoveAll(s.v1 + "/" + rel + "/" + name)
		}
	}
}

// sweepLocks removes lock files that nobody holds.
func (s *Store) sweepLocks() {
	if dir, own := s.LockDir(); own || dir != s.v1+"/locks" {
		return
	}
	dir, e := s.openDirBelow("locks")
	if e != 0 {
		return
	}
	defer closeFd(dir)
	names, err := readNames(dir)
	if err != nil {
		return
	}
	now := s.now()
	for _, name := range names {
		var st unix.Stat_t
		base, ok := strings.CutSuffix(name, lockfile.Suffix)
		if !ok || base == "ledger" || fstatat(dir, name, &st) != 0 || now-st.Mtim.Nano() < staleLock {
			continue
		}
		if l, err := s.TryLock(base); err == nil && l != nil {
			l.Remove()
		}
	}
}
