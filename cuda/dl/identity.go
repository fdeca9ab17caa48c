package dl

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"jitcache/core/key"
)

// Identity says what a library is, wherever it lies.
type Identity struct {
	// Value is for a component of a key: the GNU build ids, or digests of the
	// content, of the library and of what it will load from beside itself; each
	// with its length (2 bytes) before it.
	Value []byte
	// Inputs are the files that were read, to be added to the key: a result is
	// not stored if one of them was replaced meanwhile. What is loaded already
	// cannot be, and is not among them.
	Inputs []key.Input
}

// ErrReplaced is returned for a library without a build id whose file was
// replaced after it was loaded: nothing says any more what it is.
var ErrReplaced = fmt.Errorf("replaced since it was loaded, and has no build id")

// known are the identities of this process, by path.
var known struct {
	sync.Mutex
	files map[string]fact
}

// fact is an identity and until when it holds: while nothing is loaded, and the
// files are the same.
type fact struct {
	Identity
	generation uint64
	image      bool
}

// Identity returns what the library is, without loading it. Of a library that is
// loaded, it is what was loaded: its file may be another by now.
// The caller must not change what it returns.
func (f File) Identity() (Identity, error) {
	now := generation()
	known.Lock()
	k, ok := known.files[f.Path]
	known.Unlock()
	if ok && k.generation == now && k.image == (f.image != nil) && unchanged(k.Inputs) {
		return k.Identity, nil
	}
	id, err := f.identify()
	if err != nil {
		return Identity{}, err
	}
	known.Lock()
	defer known.Unlock()
	if known.files == nil {
		known.files = map[string]fact{}
	}
	known.files[f.Path] = fact{id, now, f.image != nil}
	return id, nil
}

func unchanged(inputs []key.Input) bool {
	return !slices.ContainsFunc(inputs, func(in key.Input) bool {
		_, changed := in.Changed()
		return changed
	})
}

func (f File) identify() (Identity, error) {
	if !byContent {
		return Identity{Value: []byte(filepath.Base(f.Path))}, nil
	}
	var id Identity
	value, err := id.read(f.Path, f.image)
	if err != nil {
		return Identity{}, err
	}
	values := [][]byte{value}
	if f.wanted == NVRTC {
		more, err := f.readBuiltins(&id)
		if err != nil {
			return Identity{}, err
		}
		values = append(values, more...)
	}
	for _, v := range values {
		id.Value = binary.LittleEndian.AppendUint16(id.Value, uint16(len(v)))
		id.Value = append(id.Value, v...)
	}
	return id, nil
}

// read returns what a file is, or the image that was loaded from it. A file that
// it reads becomes an input.
func (id *Identity) read(path string, im *image) ([]byte, error) {
	if im != nil && asLoaded {
		if value := key.BuildIDValue(im.buildID); value != nil {
			return value, nil
		}
		var ok bool
		if path, ok = im.file(); !ok {
			return nil, fmt.Errorf("%s: %w", im.path, ErrReplaced)
		}
	}
	value, in, err := key.ReadInput(key.Tool, path)
	if err != nil {
		return nil, err
	}
	id.Inputs = append(id.Inputs, in)
	return value, nil
}

// readBuiltins returns what the builtins are, as a set: links to one file, or
// a file and the image that was loaded from it, count once.
func (f File) readBuiltins(id *Identity) ([][]byte, error) {
	var values [][]byte
	loaded, files := f.builtins()
	for _, im := range loaded {
		value, err := id.read(im.path, &im)
		if err != nil {
			return nil, err
		}
		values = append(values, value)
	}
	for _, path := range files {
		value, err := id.read(path, nil)
		if err != nil {
			return nil, err
		}
		values = append(values, value)
	}
	slices.SortFunc(values, bytes.Compare)
	return slices.CompactFunc(values, bytes.Equal), nil
}

// builtins returns libnvrtc-builtins, which libnvrtc opens at its first compile
// by a name with major and minor version, "libnvrtc-builtins.so.13.5". The
// loader gives it one that is loaded; else one in LD_LIBRARY_PATH, for CUDA 12,
// or the one beside libnvrtc; else one in the rest of its path.
//
// Which minor version that is stands somewhere in a hundred megabytes. So all of
// the major version that lie beside libnvrtc are taken, of which there is
// one in every package of NVIDIA's, and all files of the same name in
// the loader's folders. One too many is a miss too many at worst.
func (f File) builtins() (loaded []image, files []string) {
	prefix := builtinsPrefix(f.Path)
	loaded = images(prefix)
	folders := loaderFolders()
	own := f.folder()
	found := beside(own, prefix)
	for i := 0; len(found) == 0 && i < len(folders); i++ {
		found = beside(folders[i], prefix)
	}
	slices.Sort(found)
	for _, name := range found {
		if slices.ContainsFunc(loaded, func(im image) bool { return filepath.Base(im.path) == name }) {
			continue
		}
		for _, folder := range append([]string{own}, folders...) {
			path := filepath.Join(folder, name)
			if loadable(path) && !slices.ContainsFunc(files, func(other string) bool { return sameFile(path, other) }) {
				files = append(files, path)
			}
		}
	}
	return loaded, files
}

// folder returns where the library lies, which the loader calls its $ORIGIN.
func (f File) folder() string {
	path := f.Path
	if f.image != nil && !filepath.IsAbs(path) {
		path, _ = f.image.file()
	}
	return filepath.Dir(path)
}

// builtinsPrefix returns how the names of the builtins begin that belong to a
// libnvrtc: "libnvrtc-builtins.so.13." for libnvrtc.so.13.
func builtinsPrefix(path string) string {
	name := filepath.Base(path)
	if real, err := filepath.EvalSymlinks(path); err == nil && version(name) == 0 {
		name = filepath.Base(real)
	}
	prefix := "libnvrtc-builtins.so."
	if strings.Contains(name, ".alt.so") {
		prefix = "libnvrtc-builtins.alt.so."
	}
	if v := version(name); v > 0 {
		prefix += fmt.Sprintf("%d.", v)
	}
	return prefix
}

// beside returns the files of a folder whose names begin with prefix.
func beside(folder, prefix string) []string {
	f, err := os.Open(folder)
	if err != nil {
		return nil
	}
	defer f.Close()
	all, _ := f.Readdirnames(-1)
	return slices.DeleteFunc(all, func(name string) bool { return !strings.HasPrefix(name, prefix) })
}

func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}
