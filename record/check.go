// Check: compares a list with the disk and the process that asks.

package record

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"sort"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"jitcache/core/key"
)

// State is what a check has found.
type State int

// The states.
const (
	// Unchanged: everything is what it was, by stat or by content.
	Unchanged State = iota
	// Restamped: unchanged, and the stamps in the list are new: store it again, so
	// that the next check need not read.
	Restamped
	// Changed: something may differ.
	Changed
)

// Check compares the list with the world of the process that asks. With Changed it says
// what differs, beginning with the path if it is a file, and leaves the list as it was.
func (l *List) Check(now *Surroundings) (state State, why string) {
	c := checker{list: l, now: now}
	c.status.Read = time.Now().UnixNano()
	c.skip = l.began != 0 && c.status.Read-l.began < int64(believed) && c.status.Read >= l.began
	if why := now.differs(&l.World); why != "" {
		return Changed, why
	}
	if !c.likely() || !c.files(absolute) || !c.folders() || !c.others() || !c.related() || !c.read() || !c.unnamedStill() {
		return Changed, c.why
	}
	if !c.skip {
		l.began = c.status.Read
	}
	if !c.takeOver() {
		return Unchanged, ""
	}
	return Restamped, ""
}

// checker is one check. Its methods return false, and why, for a change.
type checker struct {
	list   *List
	now    *Surroundings
	status status
	buffer []byte
	skip   bool // the names in Compiler.Startup, which were compared a moment ago
	why    string
	// Files and folders about which stat decides nothing: their indices and new stamps.
	doubtful, listings []restamp
	compared           int           // how many of the doubtful files were read
	moved              map[int]inode // folders with OneWith whose inodes are others now
}

type restamp struct {
	index int
	now   Stamp
}

func (c *checker) changed(path, why string) bool {
	c.why = shown(path) + ": " + why
	c.now.differed = path
	return false
}

// path returns a path for the kernel: below the folder of the surroundings unless
// it is absolute.
func (c *checker) path(p string) []byte {
	p = unplaced(p, c.now.Places)
	b := c.buffer[:0]
	if p[0] != '/' && c.now.Dir != "" {
		b = append(append(b, c.now.Dir...), '/')
	}
	b = append(append(b, p...), 0)
	c.buffer = b
	return b
}

// likely compares what mostly differs: the file in which the list before this one in the lookup differed,
// and the files in the command's own folder. Most lists that do not hold need no more.
func (c *checker) likely() bool {
	if path := c.now.differed; absolute(path) {
		i := sort.Search(len(c.list.Files), func(i int) bool { return c.list.Files[i].Path >= path })
		if i < len(c.list.Files) && c.list.Files[i].Path == path {
			if !c.file(i) || !c.read() {
				return false
			}
			c.doubtful, c.compared = c.doubtful[:0], 0 // files comes to it
		}
	}
	return c.files(func(path string) bool { return !absolute(path) }) && c.read()
}

func absolute(path string) bool { return path != "" && path[0] == '/' }

// files compares, of the files of some paths, what stat says.
func (c *checker) files(of func(path string) bool) bool {
	for i := range c.list.Files {
		if of(c.list.Files[i].Path) && !c.file(i) {
			return false
		}
	}
	return true
}

func (c *checker) file(i int) bool {
	f := &c.list.Files[i]
	flags := 0
	if c.skip && f.Flags&Startup != 0 {
		return true
	}
	if f.Flags&Plain != 0 {
		flags = unix.AT_SYMLINK_NOFOLLOW
	}
	c.status.Expected = f.Stamp.Dev
	if errno := c.status.At(c.path(f.Path), flags); errno != 0 {
		return c.changed(f.Path, errno.Error())
	}
	now := &c.status.Stamp
	switch {
	case f.Stamp.Same(now) && f.Stamp.Proves():
		// stat succeeds on files that this process may not read.
		if f.Mode&readable != readable && c.probe(c.buffer) != 0 {
			return c.changed(f.Path, "cannot be read")
		}
		return true
	case c.status.Mode() != f.Mode && keepsModes:
		return c.changed(f.Path, modeChange(f.Mode, c.status.Mode()))
	case f.Flags&Dated != 0 && now.Mtime != f.Stamp.Mtime:
		return c.changed(f.Path, "modification time changed")
	case f.Flags&Owned != 0 && c.status.Owner() != f.Owner:
		return c.changed(f.Path, "owner changed")
	case now.Size != f.Stamp.Size && f.Flags&(Loader|ByMaker) == 0:
		return c.changed(f.Path, "size changed")
	}
	c.doubtful = append(c.doubtful, restamp{i, *now})
	return true
}

// readable: for everybody.
const readable = 0o444

func modeChange(was, is uint32) string {
	if was&unix.S_IFMT != is&unix.S_IFMT {
		return "no longer a regular file"
	}
	return fmt.Sprintf("permissions %o, were %o", is&^unix.S_IFMT, was&^unix.S_IFMT)
}

func (c *checker) folders() bool {
	for i := range c.list.Folders {
		f := &c.list.Folders[i]
		flags := 0
		if c.skip && f.Flags&Began != 0 {
			continue
		}
		if f.Flags&NoLink != 0 {
			flags = unix.AT_SYMLINK_NOFOLLOW
		}
		c.status.Expected = f.Stamp.Dev
		errno := c.status.At(c.path(f.Path), flags)
		switch {
		case errno == syscall.ENOENT && f.Flags&(Exists|Listed) == 0:
			continue // and with it everything that was looked for in it
		case errno != 0:
			return c.changed(f.Path, errno.Error())
		case c.status.Kind() == unix.S_IFLNK:
			return c.changed(f.Path, "became a symbolic link")
		case c.status.Kind() != unix.S_IFDIR:
			return c.changed(f.Path, "no longer a folder")
		}
		if s := &c.status.Stamp; f.Flags&OneWith != 0 && (s.Ino != f.Stamp.Ino || s.Dev != f.Stamp.Dev) {
			if c.moved == nil {
				c.moved = map[int]inode{}
			}
			c.moved[i] = inode{s.Dev, s.Ino}
		}
		switch {
		case len(f.Absent) == 0 && f.Flags&Listed == 0:
			continue
		case f.Stamp.Same(&c.status.Stamp) && f.Stamp.Proves() && c.status.NamesProved():
			continue
		}
		now := c.status.Stamp
		if !c.absent(f) || f.Flags&Listed != 0 && !c.listed(f) {
			return false
		}
		c.listings = append(c.listings, restamp{i, now})
	}
	return c.foldersAsOne()
}

// absent looks for each name. A dangling link counts as present: lstat and readlink find it,
// and its name is taken.
func (c *checker) absent(f *Folder) bool {
	for _, name := range f.Absent {
		path := c.path(f.Path)
		path[len(path)-1] = '/'
		c.buffer = append(append(path, name...), 0)
		switch errno := c.status.At(c.buffer, unix.AT_SYMLINK_NOFOLLOW); errno {
		case syscall.ENOENT:
		case 0:
			return c.changed(f.Path+"/"+name, "exists now")
		default:
			return c.changed(f.Path+"/"+name, errno.Error())
		}
	}
	return true
}

func (c *checker) listed(f *Folder) bool {
	names, err := readNames(unix.ByteSliceToString(c.path(f.Path)))
	if err != nil {
		return c.changed(f.Path, err.Error())
	}
	if namesDigest(names, f.Except) != f.Names {
		return c.changed(f.Path, "entries were added or removed")
	}
	return true
}

// readNames returns the names in a folder, each with its type behind it, as the observer
// reports them: getdents tells programs the types too.
func readNames(path string) ([]string, error) {
	d, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	entries, err := d.ReadDir(-1)
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
		switch e.Type() {
		case 0:
		case os.ModeDir:
			names[i] += "/d"
		case os.ModeSymlink:
			names[i] += "/l"
		case os.ModeNamedPipe:
			names[i] += "/p"
		case os.ModeSocket:
			names[i] += "/s"
		case os.ModeDevice | os.ModeCharDevice:
			names[i] += "/c"
		case os.ModeDevice:
			names[i] += "/b"
		default:
			names[i] += "/o"
		}
	}
	return names, err
}

// nameOf returns the name alone.
func nameOf(entry string) string {
	name, _, _ := strings.Cut(entry, "/")
	return name
}

// namesDigest is the digest of what readNames returns, without the names in except. It does
// not depend on the order, and sorts names in place.
func namesDigest(names, except []string) key.Digest {
	slices.Sort(names)
	var all []byte
	for _, name := range names {
		if !slices.Contains(except, nameOf(name)) {
			all = append(append(all, name...), 0)
		}
	}
	return key.Sum(all)
}

// others compares links, failures, types and permissions.
func (c *checker) others() bool {
	c.status.Expected = 0
	var text [4096]byte
	for i := range c.list.Links {
		k := &c.list.Links[i]
		n, err := unix.Readlink(unix.ByteSliceToString(c.path(k.Path)), text[:])
		if err != nil {
			return c.changed(k.Path, "no longer a symbolic link")
		}
		if placed(string(text[:n]), c.now.Places) != k.Text {
			return c.changed(k.Path, "points to another target")
		}
	}
	for i := range c.list.Failures {
		f := &c.list.Failures[i]
		if errno := c.probe(c.path(f.Path)); errno != f.Errno {
			return c.changed(f.Path, failureChange(f.Errno, errno))
		}
	}
	if !c.kinds() {
		return false
	}
	for i := range c.list.Permits {
		p := &c.list.Permits[i]
		if c.skip && p.How&AtStart != 0 {
			continue
		}
		switch {
		case !isDescriptor(p.How):
			if errno := permitted(c.path(p.Path), p.How); errno != p.Errno {
				return c.changed(p.Path, permitChange(p.How, p.Errno, errno))
			}
		case launched.answer == nil:
			return c.changed(p.Path, "is of a launched command")
		default:
			if is := launched.answer(p.Path, p.How); is != p.Errno {
				return c.changed(p.Path, launched.change(p.How, p.Errno, is))
			}
		}
	}
	return true
}

// failureChange describes another failure of a path, in the system's words.
func failureChange(was, is syscall.Errno) string {
	now := "can be read now"
	if is != 0 {
		now = is.Error() + " now"
	}
	return now + ", was: " + was.Error()
}

// probe returns the error of looking at a path or reading it, 0 if both are possible.
func (c *checker) probe(path []byte) syscall.Errno {
	errno := c.status.At(path, 0)
	if errno != 0 {
		return errno
	}
	errno, _ = unix.Faccessat(unix.AT_FDCWD, unix.ByteSliceToString(path), unix.R_OK, unix.AT_EACCESS).(syscall.Errno)
	return errno
}

// read compares the content of the files about which stat decides nothing, if it was not compared before.
func (c *checker) read() bool {
	for ; c.compared < len(c.doubtful); c.compared++ {
		d := &c.doubtful[c.compared]
		f := &c.list.Files[d.index]
		path := unix.ByteSliceToString(c.path(f.Path))
		var digest key.Digest
		var stamp Stamp
		var err error
		switch {
		case f.Flags&Loader != 0:
			digest, stamp, err = loaderDigest(path, c.list.libraries())
		case f.Flags&ByMaker != 0 && launched.makerOf != nil:
			stamp = d.now
			digest, _ = launched.makerOf(c.now.digests(), &stamp)
		default:
			digest, stamp, err = c.now.digests().of(path, &d.now)
		}
		if err != nil {
			return c.changed(f.Path, err.Error())
		}
		if digest != f.Digest {
			return c.changed(f.Path, "content changed")
		}
		d.now = stamp
	}
	return true
}

// few is up to how many absent names are looked for again at each check, at 1 us each,
// rather than that the list is stored with a new stamp, at 500 us. The folder in which a
// command leaves its output has another stamp after each replay.
const few = 32

// takeOver puts the new stamps into the list. It reports whether they are worth storing:
// stamps that prove nothing save nobody the reading.
func (c *checker) takeOver() (better bool) {
	over := func(s *Stamp, now Stamp, worth bool) {
		better = better || worth && (now.Proves() || !now.Same(s) && s.Mount != noMount)
		*s = now
	}
	for i, id := range c.moved {
		c.list.Folders[i].Stamp.Dev, c.list.Folders[i].Stamp.Ino = id.dev, id.ino
	}
	for _, d := range c.doubtful {
		over(&c.list.Files[d.index].Stamp, d.now, true)
	}
	for _, d := range c.listings {
		f := &c.list.Folders[d.index]
		over(&f.Stamp, d.now, f.Flags&Listed != 0 || len(f.Absent) > few)
	}
	return better
}

// Equal reports whether two lists have the same world and payload. Stamps do not matter.
func (l *List) Equal(other *List) bool { return bytes.Equal(l.unstamped(), other.unstamped()) }

func (l *List) unstamped() []byte {
	c := *l
	c.Files, c.Folders = slices.Clone(l.Files), slices.Clone(l.Folders)
	for i := range c.Files {
		c.Files[i].Stamp = Stamp{}
	}
	for i, first := range l.sameFolders(nil) {
		c.Folders[i].Stamp = Stamp{Ino: uint64(first + 1)}
	}
	return c.Append(nil)
}
