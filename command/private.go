package command

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// privatePrefix begins the name of every folder that is made for a run.
const privatePrefix = "jitcache-run-"

// young is how long a folder without a lock may be one that is just being made: that
// takes microseconds.
const young = time.Minute

// mostNames bounds a sweep: a temp directory may hold any number of files, and of so
// many it takes three milliseconds.
const mostNames = 10000

// private is a folder that a command runs in. It is locked for as long as its process
// lives; a process id would say less, because it is used again, and is another
// process's in another container.
type private struct {
	path string // without links, as processes in it see it
	lock *os.File
}

var swept sync.Map // temp directories that this process has swept

// newPrivate makes a folder in a temp directory. The first call for a directory removes
// what processes that were killed have left there.
func newPrivate(temp string) (*private, error) {
	if _, done := swept.LoadOrStore(temp, true); !done {
		sweep(temp)
	}
	path, err := os.MkdirTemp(temp, privatePrefix)
	if err != nil {
		return nil, err
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	p := &private{path: path}
	// Without the lock it may be swept after a minute, and then the run fails as one
	// whose temp directory somebody has emptied.
	p.lock, _ = lockFolder(path)
	return p, nil
}

// remove removes the folder with all that is in it.
func (p *private) remove() {
	os.RemoveAll(p.path)
	if p.lock != nil {
		p.lock.Close()
	}
}

// lockFolder opens and locks a folder. It fails if another process has it locked.
func lockFolder(path string) (*os.File, error) {
	f, err := os.OpenFile(path, syscall.O_DIRECTORY|syscall.O_NOFOLLOW|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil && sparesLiving {
		f.Close()
		return nil, err
	}
	return f, nil
}

// sweep removes folders whose processes are gone: this user's, not young, and not
// locked.
func sweep(temp string) {
	f, err := os.Open(temp)
	if err != nil {
		return
	}
	defer f.Close()
	names, _ := f.Readdirnames(mostNames)
	for _, name := range names {
		if path := filepath.Join(temp, name); strings.HasPrefix(name, privatePrefix) && isLeft(path) {
			if lock, err := lockFolder(path); err == nil {
				os.RemoveAll(path)
				lock.Close()
			}
		}
	}
}

// isLeft reports whether a folder may be a leftover, but for its lock.
func isLeft(path string) bool {
	st, err := os.Lstat(path)
	if err != nil || !st.IsDir() || !sweepsTemps {
		return false
	}
	own, ok := st.Sys().(*syscall.Stat_t)
	age := time.Since(st.ModTime())
	return ok && int(own.Uid) == os.Geteuid() && (age >= young || age <= -young)
}
