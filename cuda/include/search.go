package include

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"jitcache/core/key"
	"jitcache/core/manifest"
	"jitcache/core/request"
)

// name is a header as a directive spells it.
type name struct {
	text   string
	quoted bool
}

// target is what a name leads to: a header in memory or a file, by its place on
// the search path; nothing if both are nil.
type target struct {
	place  int // 0 the includer's folder, 1… the values of -I
	memory *text
	file   *file
}

// file is a path that was looked up.
type file struct {
	path string
	body []byte // nil: there is none
	manifest.File
	text *text // once it was included
}

func (f *file) there() bool { return f.body != nil }

type identity struct{ dev, ino uint64 }

func (f *file) identity() identity { return identity{f.Stamp.Dev, f.Stamp.Ino} }

// Bounds of a closure. The largest seen, <thrust/sort.h>, has 1,244 files; the
// whole of CCCL has 3,000, and 20 MB.
const (
	maxFiles = 20_000
	maxBytes = 200 << 20
)

// disk looks files up, each path once.
type disk struct {
	files   map[string]*file
	folders map[string]*folder
	list    *manifest.List
	bytes   int
}

// lookup returns the file of a path. A folder is no file, as for NVRTC, which
// opens it and goes on to the next place. What may be a file and cannot be read
// is refused.
func (d *disk) lookup(path string) (*file, error) {
	if f := d.files[path]; f != nil {
		return f, nil
	}
	f := &file{path: path}
	d.files[path] = f
	if len(path) >= key.MaxPath || path == "" {
		return f, nil // the system finds nothing there, now or later
	}
	body, read, err := manifest.Read(path)
	switch {
	case err == nil:
		f.body, f.File = body, read
		d.list.Files = append(d.list.Files, read)
		d.bytes += len(body)
	case key.IsAbsent(err), errors.Is(err, key.ErrNotRegular) && isFolder(path):
		d.list.Absent = append(d.list.Absent, path)
	default:
		delete(d.files, path)
		return nil, request.Refuse(path, reason(err))
	}
	if len(d.list.Files) > maxFiles || d.bytes > maxBytes {
		return nil, request.Refuse(path, fmt.Sprintf("more than %d files or %d MB are reached", maxFiles, maxBytes>>20))
	}
	return f, nil
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func reason(err error) string {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}

// resolve returns what a name leads to. #include_next, which starts behind the
// includer's place, leads to all that there are: where an includer was found
// may differ from one inclusion to the next.
func (w *walk) resolve(n name, k kind, from *text) ([]target, error) {
	if strings.IndexByte(n.text, 0) >= 0 || n.text == "" {
		return nil, nil // the front end refuses it
	}
	if t := w.memory[n.text]; t != nil {
		w.reach(t)
		return []target{{memory: t}}, nil
	}
	if n.text[0] == '/' {
		f, err := w.disk.lookup(n.text)
		return withFile(nil, 0, f), err
	}
	var all []target
	for place := range len(w.req.Dirs) + 1 {
		dir := from.folder
		if place > 0 {
			dir = w.req.Dirs[place-1]
		} else if !n.quoted || from.noFolder {
			continue
		}
		for _, spelled := range spellings(n.text) {
			f, err := w.disk.lookup(join(dir, spelled))
			if err != nil {
				return nil, err
			}
			all = withFile(all, place, f)
			if len(all) > 0 && k != kindNext && k != kindHasNext {
				return all, nil
			}
		}
	}
	return all, nil
}

func withFile(all []target, place int, f *file) []target {
	if f == nil || !f.there() {
		return all
	}
	return append(all, target{place: place, file: f})
}

// spellings are the names of files that a header may have: NVRTC tries one
// without a dot with the suffix .stdh too.
func spellings(text string) []string {
	if strings.Contains(text[strings.LastIndexByte(text, '/')+1:], ".") {
		return []string{text}
	}
	return []string{text, text + ".stdh"}
}

// join puts a name below a folder as NVRTC does, without cleaning: a/../b is not
// b where a is a symbolic link. No folder is the working one.
func join(dir, text string) string {
	if dir == "" {
		return text
	}
	if dir = strings.TrimRight(dir, "/"); dir == "" {
		return "/" + text
	}
	return dir + "/" + text
}

// folderOf is where quoted names in a file start: its path up to the last slash.
func folderOf(path string) string { return path[:strings.LastIndexByte(path, '/')+1] }

// sameFolder reports whether two paths lead to one folder now.
func sameFolder(a, b string) bool {
	var x, y syscall.Stat_t
	return syscall.Stat(orHere(a), &x) == nil && syscall.Stat(orHere(b), &y) == nil && x.Dev == y.Dev && x.Ino == y.Ino
}

func orHere(dir string) string {
	if dir == "" {
		return "."
	}
	return dir
}
