package manifest

import (
	"fmt"
	"syscall"
	"time"

	"jitcache/core/key"
	"jitcache/core/stamp"
)

// State is what a check has found.
type State int

// The states.
const (
	// Unchanged: every file is what it was, by stat or by its content.
	Unchanged State = iota
	// Restamped: unchanged, and the list has new stamps: store it again, so that
	// the next check need not read.
	Restamped
	// Changed: something may differ.
	Changed
)

// Check compares the list with the disk. With Changed it says which path and
// why; the list is then as it was.
func (l *List) Check() (state State, why string) {
	c := checker{list: l}
	c.status.Read = time.Now().UnixNano()
	if !c.files() || !c.absent() || !c.aliases() || !c.folders() || !c.read() || !c.sameOnes() {
		return Changed, c.why
	}
	if !c.commit() {
		return Unchanged, ""
	}
	return Restamped, ""
}

// checker is one check. Its methods return false, and why, for a change.
type checker struct {
	list   *List
	status stamp.Status
	path   []byte
	why    string
	// What stat could not decide: indices, and the stamps found in their place.
	doubtful []moved
	listings []moved
}

type moved struct {
	index int
	now   stamp.Stamp
}

func (c *checker) changed(path, why string) bool {
	c.why = path + ": " + why
	return false
}

// stat asks what is at a path.
func (c *checker) stat(path string) syscall.Errno {
	c.path = append(append(c.path[:0], path...), 0)
	return c.status.At(c.path, 0)
}

func (c *checker) files() bool {
	for i := range c.list.Files {
		f := &c.list.Files[i]
		if errno := c.stat(f.Path); errno != 0 {
			return c.changed(f.Path, errno.Error())
		}
		if c.status.Kind() != syscall.S_IFREG {
			return c.changed(f.Path, key.ErrNotRegular.Error())
		}
		now := c.status.Stamp
		if f.Stamp.Same(&now) && f.Stamp.Proves() {
			continue
		}
		if now.Size != f.Stamp.Size {
			return c.changed(f.Path, "another size")
		}
		c.doubtful = append(c.doubtful, moved{i, now})
	}
	return true
}

func (c *checker) absent() bool {
	for _, path := range c.list.Absent {
		switch errno := c.stat(path); {
		case errno == 0 && c.status.Kind() != syscall.S_IFDIR:
			return c.changed(path, "was not there")
		case errno != 0 && !key.IsAbsent(errno):
			return c.changed(path, errno.Error())
		}
	}
	return true
}

func (c *checker) aliases() bool {
	for _, t := range c.list.Aliases {
		var a, b syscall.Stat_t
		if syscall.Stat(t.A, &a) != nil || syscall.Stat(t.B, &b) != nil || a.Dev != b.Dev || a.Ino != b.Ino {
			return c.changed(t.A, fmt.Sprintf("no longer the same as %s", t.B))
		}
	}
	return true
}

func (c *checker) folders() bool {
	for i := range c.list.Folders {
		f := &c.list.Folders[i]
		if errno := c.stat(f.Path); errno != 0 {
			return c.changed(f.Path, errno.Error())
		}
		if f.Stamp.Same(&c.status.Stamp) && f.Stamp.Proves() && c.status.NamesProved(c.path) {
			continue
		}
		_, names, now, err := key.ReadNames(f.Path)
		if err != nil || names != f.Names {
			return c.changed(f.Path, "other names in it")
		}
		c.listings = append(c.listings, moved{i, now})
	}
	return true
}

// read reads the files for which stat decided nothing.
func (c *checker) read() bool {
	for i := range c.doubtful {
		d := &c.doubtful[i]
		f := &c.list.Files[d.index]
		again, err := readAgain(f)
		if err != nil {
			return c.changed(f.Path, err.Error())
		}
		if again.Digest != f.Digest {
			return c.changed(f.Path, "another content")
		}
		d.now = again.Stamp
	}
	return true
}

// readAgain reads small files, which most are, in one call.
func readAgain(f *File) (File, error) {
	if f.Stamp.Size > 1<<20 {
		return Digest(f.Path)
	}
	_, again, err := Read(f.Path)
	return again, err
}

// identity is what makes two paths one file.
type identity struct{ dev, ino uint64 }

// sameOnes reports whether the same paths as before lead to one file, and no
// others do: #pragma once goes by that, and content does not show it.
func (c *checker) sameOnes() bool {
	other := map[int]identity{}
	for _, d := range c.doubtful {
		f := &c.list.Files[d.index]
		if f.Stamp.Dev != d.now.Dev || f.Stamp.Ino != d.now.Ino {
			other[d.index] = identity{d.now.Dev, d.now.Ino}
		}
	}
	if len(other) == 0 {
		return true
	}
	was, is := map[identity]identity{}, map[identity]identity{}
	for i := range c.list.Files {
		f := &c.list.Files[i]
		old := identity{f.Stamp.Dev, f.Stamp.Ino}
		now, ok := other[i]
		if !ok {
			now = old
		}
		if before, seen := was[now]; seen && before != old {
			return c.changed(f.Path, "one file under two names")
		}
		if after, seen := is[old]; seen && after != now {
			return c.changed(f.Path, "was one file under two names")
		}
		was[now], is[old] = old, now
	}
	return true
}

// commit takes over the new stamps. It reports whether they are worth storing:
// with those of a file that is still fresh the next check reads it all the same.
func (c *checker) commit() (better bool) {
	for _, d := range c.doubtful {
		f := &c.list.Files[d.index]
		better = better || d.now.Proves() || !d.now.Same(&f.Stamp)
		f.Stamp = d.now
	}
	for _, d := range c.listings {
		f := &c.list.Folders[d.index]
		better = better || d.now.Proves() || !d.now.Same(&f.Stamp)
		f.Stamp = d.now
	}
	return better
}
