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

// fold turns the paths that were absent into names that are not in folders. Where
// a folder on the way is missing too, that is the name: everything below it is
// absent as long as it is.
func (t *taker) fold() error {
	exists := map[string]bool{}
	for path := range t.absent {
		if slices.ContainsFunc(t.run.Places, func(p Place) bool { return p.Path == path }) {
			t.list.Failures = append(t.list.Failures, Failure{path, syscall.ENOENT})
			continue // it is a name that has no folder of its own in the list
		}
		folder, name := t.missing(path, exists)
		f := t.folderAt(folder)
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
			there = t.status.at(ended(t.full(folder)), 0) != syscall.ENOENT
			exists[folder] = there
		}
		if there {
			break
		}
		folder, name = split(folder)
	}
	return folder, name
}

// split cuts a path at its last slash. Doubled ones, and those at the end, belong
// to the folder's name: the kernel passes over them.
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

// full returns a path for this process: relative ones are below the run's folder.
func (t *taker) full(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return t.run.Dir + "/" + path
}

// settle stamps a folder, and then looks for its absent names again: what appears
// after that changes the stamp. What has appeared before was absent when the
// command looked, and is there by now: the result is of a world that is gone.
func (t *taker) settle(f *Folder) error {
	if len(f.Absent) == 0 && f.Flags&Listed == 0 {
		return nil // it has to be there, and that is all
	}
	full := t.full(f.Path)
	stamp := Stamp{Mount: noMount}
	if errno := t.status.at(ended(full), 0); errno == 0 {
		stamp = t.status.stamp
	}
	there := map[string]bool{}
	if len(f.Absent) > 64 {
		names, _ := readNames(full)
		for _, name := range names {
			there[name] = true
		}
	}
	for _, name := range f.Absent {
		if len(f.Absent) > 64 && !there[name] {
			continue
		}
		if t.status.at(ended(full+"/"+name), 0) != syscall.ENOENT && !t.isMade(full+"/"+name) {
			return request.Refuse(f.Path+"/"+name, "appeared meanwhile")
		}
	}
	if f.Flags&Listed != 0 {
		names, err := readNames(full)
		if err != nil || namesDigest(names, f.Except) != f.Names {
			return request.Refuse(f.Path, "got other names meanwhile")
		}
	}
	f.Stamp = stamp
	return nil
}

// ---- what the command wrote

// isMade reports whether the command made a file, by whatever path.
func (t *taker) isMade(path string) bool {
	real, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return false
	}
	real = filepath.Join(real, filepath.Base(path))
	return slices.ContainsFunc(t.run.Report.Files, func(f writtenFile) bool { return f.Path == real })
}

// madeIn returns the names that the command has made in a folder.
func (t *taker) madeIn(path string) []string {
	real, err := filepath.EvalSymlinks(t.full(path))
	if err != nil {
		return nil
	}
	var names []string
	for _, f := range t.run.Report.Files {
		if folder, name := split(f.Path); folder == real {
			names = append(names, name)
		}
	}
	return names
}

// written refuses what a command must not leave behind.
func (t *taker) written() error {
	for _, f := range t.run.Report.Files {
		if t.private(f.Path) || IsScratch(f.Path) {
			continue
		}
		var st unix.Stat_t
		gone := unix.Lstat(f.Path, &st) != nil
		switch {
		case f.How&changedInPlace != 0:
			return request.Refuse(f.Path, "is changed in place")
		case gone && f.How&created != 0: // made, and removed
		case gone:
			return request.Refuse(f.Path, "is removed")
		case t.run.Leaves == nil || !t.run.Leaves(f.Path):
			return request.Refuse(f.Path, "is left behind")
		}
	}
	return nil
}
