// Find: which file of NVRTC or the driver to use.

package dl

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// File is a library that was found, and not opened.
type File struct {
	// Path is absolute.
	Path   string
	wanted Wanted
	image  *image // nil if it was not loaded
}

// Loaded reports whether the process had loaded the library when it was found.
func (f File) Loaded() bool { return f.image != nil }

// NotFound is the error for a library that was found nowhere.
type NotFound struct {
	Library string   // "libnvrtc" or "libcuda"
	Names   []string // the file names that were tried in each folder
	Folders []string // the folders and the loader's lists that were searched
}

// Error says in one line what was tried.
func (e *NotFound) Error() string {
	return fmt.Sprintf("%s: not loaded and not found as %s in %s",
		e.Library, strings.Join(e.Names, ", "), strings.Join(e.Folders, ", "))
}

// last is the latest answer for each library. It holds while the process loads and unloads
// nothing and the file is there. A better file that appears meanwhile is found only after
// that.
var last struct {
	sync.Mutex
	answers [CUDA + 1]answer
}

type answer struct {
	File
	locations  Locations
	generation uint64
}

// Find returns the library's file, without loading anything. The package's comment has the
// order. The error is a [*NotFound] or, for an explicit path, says what is wrong with it.
func Find(w Wanted, p Locations) (File, error) {
	if f, ok := recall(w, p); ok && (f.image != nil || exists(f.Path)) {
		return f, nil
	}
	now := generation()
	f, err := search(w, p)
	if err != nil {
		return File{}, err
	}
	p.Wheels, p.Homes = slices.Clone(p.Wheels), slices.Clone(p.Homes)
	last.Lock()
	last.answers[w] = answer{f, p, now}
	last.Unlock()
	return f, nil
}

// Last returns the last answer of Find, if the process has loaded and unloaded nothing
// since. It does not check that the file is still there.
func Last(w Wanted, p Locations) (File, bool) { return recall(w, p) }

func recall(w Wanted, p Locations) (File, bool) {
	now := generation()
	last.Lock()
	defer last.Unlock()
	a := &last.answers[w]
	return a.File, a.Path != "" && a.generation == now && a.locations.equal(p)
}

func exists(path string) bool {
	var st syscall.Stat_t
	return syscall.Stat(path, &st) == nil
}

func search(w Wanted, p Locations) (File, error) {
	if p.Explicit != "" {
		return explicit(w, p.Explicit)
	}
	if im := newestLoaded(w); im != nil {
		path := im.path
		if !filepath.IsAbs(path) { // relative to the folder that the process was in then
			path, _ = im.file()
		}
		return File{path, w, im}, nil
	}
	missing := &NotFound{Library: w.String(), Names: names[w]}
	for _, group := range p.groups(w) {
		if path := lookIn(group, names[w]); path != "" {
			return File{path, w, nil}, nil
		}
		missing.Folders = append(missing.Folders, group...)
	}
	return File{}, missing
}

// lookIn returns the first file with the best name, "" if there is none.
func lookIn(folders, names []string) string {
	for _, name := range names {
		for _, folder := range folders {
			path := filepath.Join(folder, name)
			if folder == loaderCache {
				path = cached(name)
			}
			// A relative path would mean another file after the next chdir.
			if filepath.IsAbs(path) && loadable(path) {
				return path
			}
		}
	}
	return ""
}

// explicit takes the path as it is: a user who names a library wants that one
// or an error.
func explicit(w Wanted, path string) (File, error) {
	st, err := os.Stat(path)
	switch {
	case !filepath.IsAbs(path):
		return File{}, fmt.Errorf("%s: %s: not an absolute path", w, path)
	case err != nil:
		return File{}, fmt.Errorf("%s: %w", w, err)
	case !st.Mode().IsRegular():
		return File{}, fmt.Errorf("%s: %s: not a regular file", w, path)
	}
	return File{path, w, residentImage(path)}, nil
}

// newestLoaded returns the loaded library with the highest version. So the answer does not
// depend on the order in which a host imports the libraries.
func newestLoaded(w Wanted) *image {
	var best *image
	for _, im := range images(w.String()) {
		name := filepath.Base(im.path)
		if w.matches(name) && (best == nil || version(name) > version(filepath.Base(best.path))) {
			best = &im
		}
	}
	return best
}

// version returns the first number of a library's version, 0 if it has none.
func version(name string) int {
	_, v, _ := strings.Cut(name, ".so.")
	major, _, _ := strings.Cut(v, ".")
	n, _ := strconv.Atoi(major)
	return n
}

// loaderCache stands among the folders for the files that it lists.
const loaderCache = "/etc/ld.so.cache"

// cached returns the path that the loader's cache has for a file name, "" if it has none.
// The cache is a table of offsets into NUL-terminated texts. cached searches only the texts.
func cached(name string) string {
	texts, err := os.ReadFile(loaderCache)
	if err != nil {
		return ""
	}
	for end := []byte("/" + name + "\x00"); ; {
		at := bytes.Index(texts, end)
		if at < 0 {
			return ""
		}
		path := string(texts[bytes.LastIndexByte(texts[:at], 0)+1 : at+len(end)-1])
		if loadable(path) {
			return path
		}
		texts = texts[at+len(end):]
	}
}
