// Names that the command did not find: the folders in which they are missing.

package record

import (
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"jitcache/core/request"
)

func now() int64 { return time.Now().UnixNano() }

// fold turns absent paths into pairs of a folder and a name that is not in it. If a
// folder on the way is missing too, its name is noted instead: as long as it is absent,
// so is everything below it.
func (t *taker) fold() error {
	exists := map[string]bool{}
	if !keepsAbsent {
		clear(t.absent)
	}
	for path := range t.absent {
		if slices.ContainsFunc(t.run.Places, func(p Place) bool { return p.Path == strings.TrimPrefix(path, "./") }) {
			t.list.Failures = append(t.list.Failures, Failure{path, syscall.ENOENT})
			continue // the list has a name for the whole path, and none for its folder
		}
		folder, name := t.missing(path, exists)
		whole := join(folder, name)
		if t.status.At(ended(t.full(whole)), unix.AT_SYMLINK_NOFOLLOW) == 0 && !t.isMade(t.full(whole)) {
			// A dangling link: its target may appear without a change of this folder. (A link
			// that the command itself has made was not there.)
			failure := Failure{whole, syscall.ENOENT}
			if !slices.Contains(t.list.Failures, failure) {
				t.list.Failures = append(t.list.Failures, failure)
			}
			continue
		}
		f := t.folderAt(folder)
		if len(f.Absent) == 0 && f.Flags == 0 {
			f.Flags = Began
		}
		if !t.run.Compiler.began(t.full(path)) {
			f.Flags &^= Began
		}
		if !slices.Contains(f.Absent, name) {
			f.Absent = append(f.Absent, name)
		}
	}
	for i := range t.list.Folders {
		if err := t.settle(&t.list.Folders[i]); err != nil {
			return err
		}
	}
	return nil
}

// missing returns the first name on a path that is not there, and the folder that
// it is not in.
func (t *taker) missing(path string, exists map[string]bool) (folder, name string) {
	folder, name = split(path)
	for folder != "/" && folder != "." {
		there, known := exists[folder]
		if !known {
			there = t.status.At(ended(t.full(folder)), 0) != syscall.ENOENT
			exists[folder] = there
		}
		if there {
			break
		}
		folder, name = split(folder)
	}
	return folder, name
}

// split cuts a path at its last slash. Slashes at its end are dropped, as the kernel
// does; doubled ones stay with the folder.
func split(path string) (folder, name string) {
	path = strings.TrimRight(path, "/")
	i := strings.LastIndexByte(path, '/')
	switch {
	case i < 0:
		return ".", path
	case i == 0:
		return "/", path[1:]
	}
	return path[:i], path[i+1:]
}

func join(folder, name string) string {
	switch folder {
	case ".":
		return name
	case "/":
		return "/" + name
	}
	return folder + "/" + name
}

// full returns a path for this process: relative ones are below the run's folder.
func (t *taker) full(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return t.run.Dir + "/" + path
}

// settle stamps a folder, and then looks for its absent names again. A name that appears
// later changes the stamp. A name that is there already has appeared since the command
// looked, so the result belongs to a world that is gone: it is refused.
func (t *taker) settle(f *Folder) error {
	if len(f.Absent) == 0 && f.Flags&Listed == 0 {
		return nil // only that it exists counts
	}
	full := t.full(f.Path)
	stamp := Stamp{Mount: noMount}
	if errno := t.status.At(ended(full), 0); errno == 0 {
		stamp = t.status.Stamp
	}
	there := map[string]bool{}
	listed := false // a folder may permit entering and not listing
	if len(f.Absent) > 64 {
		names, err := readNames(full)
		listed = err == nil
		for _, name := range names {
			there[nameOf(name)] = true
		}
	}
	for _, name := range f.Absent {
		if listed && !there[name] {
			continue
		}
		if t.status.At(ended(full+"/"+name), unix.AT_SYMLINK_NOFOLLOW) == syscall.ENOENT {
			continue
		}
		if !t.isMade(full + "/" + name) {
			return request.Refuse(f.Path+"/"+name, "appeared during the run")
		}
		stamp.Mount = noMount // this stamp is that of the folder with the name in it
	}
	if f.Flags&Listed != 0 {
		names, err := readNames(full)
		if err != nil || namesDigest(names, f.Except) != f.Names {
			return request.Refuse(f.Path, "entries were added or removed during the run")
		}
	}
	f.Stamp = stamp
	return nil
}
