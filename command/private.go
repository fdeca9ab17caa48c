// The private folders in which commands run, and the removal of those that dead processes have
// left.

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

// young is the age up to which a folder without a lock may still be in the making. Making
// one takes microseconds.
const young = time.Minute

// mostNames bounds a sweep, because a temp directory may hold any number of files. So many
// names take three milliseconds.
const mostNames = 10000

// private is a folder that a command runs in. It is locked as long as its process lives. A
// process id would not do: ids are reused, and another container may use the same id.
type private struct {
	path string // without symbolic links, as processes in it see it
	lock *os.File
}

var swept sync.Map // temp directories that this process has swept

// newPrivate makes a folder in a temp directory. The first call for a directory removes the
// folders that killed processes left there.
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
	// If the lock fails, another process may sweep the folder after a minute. The run then
	// fails, as if somebody had emptied its temp directory.
	p.lock, _ = lockFolder(path)
	return p, nil
}

// folderFor makes a folder where an environment has its temporary files.
func folderFor(env []string) (p *private, err error) {
	for _, temp := range []string{variable(env, "TMPDIR"), "/tmp", "/var/tmp"} {
		if filepath.IsAbs(temp) {
			if p, err = newPrivate(temp); err == nil {
				return p, nil
			}
		}
	}
	return nil, err
}

// remove removes the folder with everything in it.
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

// sweep removes the private folders of dead processes: those of this user that are neither
// young nor locked.
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

// isLeft reports whether a folder may be a leftover. It does not look at the lock.
func isLeft(path string) bool {
	st, err := os.Lstat(path)
	if err != nil || !st.IsDir() || !sweepsTemps {
		return false
	}
	own, ok := st.Sys().(*syscall.Stat_t)
	age := time.Since(st.ModTime())
	return ok && int(own.Uid) == os.Geteuid() && (age >= young || age <= -young)
}
