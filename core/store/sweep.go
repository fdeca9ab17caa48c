// Removes what dead processes have left: temporary files, pinned names, lock files.

package store

import (
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"jitcache/core/lockfile"
)

// Dead processes leave files behind: temporary files of puts, pinned names, lock files.
// A name begins with its owner (lockfile.Owner). A file is removed if its process is
// gone. If its process cannot be seen from here, it is removed when it is old.
const (
	sweepEvery = int64(24 * time.Hour)
	staleTemp  = int64(time.Hour)          // a put takes milliseconds
	staleOpen  = int64(7 * 24 * time.Hour) // a pinned name lasts as long as its process
	staleLock  = int64(24 * time.Hour)     // an idle lock file costs nothing
)

// sweepDaily sweeps the directory once a day. It is part of a put.
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

// sweepDir removes the files in tmp or open whose owners are gone.
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
			// By the change time: a pinned name has the entry's own mtime.
			var st unix.Stat_t
			if fstatat(dir, name, &st) != 0 || now-st.Ctim.Nano() < stale {
				continue
			}
		}
		removeTree(dir, name)
	}
}

// tempsSwept are the temp directories that this process has swept.
var tempsSwept sync.Map

// sweepTempOnce sweeps a temp directory, once per process.
func sweepTempOnce(tempdir string) {
	if _, swept := tempsSwept.LoadOrStore(tempdir, true); !swept && sweepTemps {
		sweepTemp(tempdir, time.Now().UnixNano())
	}
}

// maxTempNames bounds the names of a temp directory that a sweep looks at, because there
// may be any number. It takes three milliseconds.
const maxTempNames = 10_000

// sweepTemp removes the copies of payloads (NewPin) that processes of this user
// have left in a temp directory.
func sweepTemp(tempdir string, now int64) {
	d, err := os.Open(tempdir)
	if err != nil {
		return
	}
	defer d.Close()
	names, _ := d.Readdirnames(maxTempNames)
	dir := int(d.Fd())
	for _, name := range names {
		rest, ok := strings.CutPrefix(name, tempPrefix)
		owner, isOwner := lockfile.ParseOwner(rest)
		if !ok || !isOwner || !strings.HasSuffix(name, tempSuffix) {
			continue
		}
		var st unix.Stat_t
		if fstatat(dir, name, &st) != 0 || st.Mode&unix.S_IFMT != unix.S_IFREG || int(st.Uid) != os.Geteuid() {
			continue
		}
		if isLeft(owner, now-st.Ctim.Nano()) {
			unlinkat(dir, name, 0)
		}
	}
}

// isLeft reports whether a file with this owner and age is a leftover.
func isLeft(owner lockfile.Owner, age int64) bool {
	switch owner.State() {
	case lockfile.Gone:
		return true
	case lockfile.Unknown:
		return age > staleOpen
	}
	return !sparesLiving
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
		if l, err := s.TryLock(base, nil); err == nil && l != nil {
			l.Remove()
		}
	}
}
