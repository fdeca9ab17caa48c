// What a command made and changed, and what of it refuses the result.

package record

import (
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"jitcache/core/request"
	"jitcache/observe"
)

// private reports whether a path begins with the folder that was made for the run.
func (t *taker) private(path string) bool { return within(path, t.run.Private) }

func within(path, folder string) bool {
	rest, ok := strings.CutPrefix(path, folder)
	return ok && folder != "" && (rest == "" || rest[0] == '/')
}

// outside returns where a path that begins with the private folder leads if it leads out of
// it, through ".." or a link that the command has made; "" if it stays inside.
func (t *taker) outside(path string) (string, error) {
	folder, name := split(path)
	if name == "." || name == ".." {
		folder, name = path, ""
	}
	rest := ""
	real := t.real(folder)
	for real == "" && folder != "/" {
		if t.isMade(folder) {
			return "", request.Refuse(folder, "led to another place, and was removed")
		}
		var last string
		folder, last = split(folder)
		rest = "/" + last + rest
		real = t.real(folder)
	}
	found := strings.TrimSuffix(strings.TrimSuffix(real, "/")+rest+"/"+name, "/")
	if t.status.At(ended(found), unix.AT_SYMLINK_NOFOLLOW) == 0 && t.status.Kind() == unix.S_IFLNK {
		if target, err := filepath.EvalSymlinks(found); err == nil {
			found = target
		} else {
			return "", request.Refuse(path, "is a dangling symbolic link")
		}
	}
	if t.private(found) {
		return "", nil
	}
	return found, nil
}

// real returns a path without links, "" if nothing is there. It asks about each folder on the way once:
// the names of a run are in few folders.
func (t *taker) real(path string) string {
	real, known := t.reals[path]
	if !known {
		real = t.follow(path)
		t.reals[path] = real
	}
	return real
}

func (t *taker) follow(path string) string {
	if filepath.IsAbs(path) && path != "/" && filepath.Clean(path) == path {
		folder, name := split(path)
		if folder = t.real(folder); folder == "" {
			return ""
		}
		path = join(folder, name)
		if t.lookup.At(ended(path), unix.AT_SYMLINK_NOFOLLOW) != 0 {
			return ""
		}
		if t.lookup.Kind() != unix.S_IFLNK {
			return path
		}
	}
	real, _ := filepath.EvalSymlinks(path)
	return real
}

// isMade reports whether the command made what is or was at a path, whichever links the
// path goes through.
func (t *taker) isMade(path string) bool {
	folder, name := split(path)
	real := t.real(folder)
	return real != "" && t.made[strings.TrimSuffix(real, "/")+"/"+name]
}

// throughMade reports whether a name leads through a link that the command has made. Folders
// that it made do not matter: their contents are its own, and a name below one that was
// absent before the folder existed was absent.
func (t *taker) throughMade(n *observe.Name) bool {
	if len(t.made) == 0 {
		return false
	}
	absent := n.Mode == 0 && n.Errno == syscall.ENOENT
	for folder, _ := split(n.Path); folder != "/" && folder != "."; folder, _ = split(folder) {
		if t.isMade(folder) && !(absent && t.isRealFolder(folder)) {
			return true
		}
	}
	return false
}

func (t *taker) isRealFolder(path string) bool {
	return t.status.At(ended(path), unix.AT_SYMLINK_NOFOLLOW) == 0 && t.status.Kind() == unix.S_IFDIR
}

// madeIn returns the names that the command has made in a folder.
func (t *taker) madeIn(path string) []string {
	real := t.real(t.full(path))
	var names []string
	for _, f := range t.run.Report.Files {
		if folder, name := split(f.Path); folder == real {
			names = append(names, name)
		}
	}
	return names
}

// compilesSources reports whether Python has loaded its module py_compile. What it makes then
// is not what any import of a source would make, but what was asked for.
func (t *taker) compilesSources() bool {
	if t.compiles == nil {
		found := seesCompilers && slices.ContainsFunc(t.run.Report.Names, func(n observe.Name) bool {
			module, _, _ := strings.Cut(filepath.Base(n.Path), ".")
			return module == "py_compile" && n.Mode&unix.S_IFMT == unix.S_IFREG && n.Bits&observe.Read != 0
		})
		t.compiles = &found
	}
	return *t.compiles
}

// written refuses a command that changes or leaves behind what it may not.
func (t *taker) written() error {
	for _, f := range t.run.Report.Files {
		if t.private(f.Path) {
			continue
		}
		var st unix.Stat_t
		gone := unix.Lstat(f.Path, &st) != nil
		if IsScratch(f.Path) {
			if strings.HasSuffix(f.Path, ".pyc") && !gone && t.compilesSources() {
				return request.Refuse(f.Path, "was made by py_compile")
			}
			continue
		}
		switch {
		case f.How&observe.Changed != 0:
			return request.Refuse(f.Path, "was modified in place")
		case gone && f.How&(observe.Created|observe.Removed) == observe.Created && seesRemovals:
			return request.Refuse(f.Path, "was removed by another process during the run")
		case gone && f.How&observe.Created != 0: // made, and removed
		case gone:
			return request.Refuse(f.Path, "was removed by the command")
		case t.run.Leaves == nil || !t.run.Leaves(f.Path):
			return request.Refuse(f.Path, "was left behind by the command")
		}
	}
	return nil
}
