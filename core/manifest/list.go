package manifest

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"jitcache/core/key"
	"jitcache/core/stamp"
)

// List is what one result was made from. A List is for one goroutine.
type List struct {
	Files   []File
	Folders []Folder
	// Absent are the paths under which there was no file. A folder of such a name
	// counts as no file.
	Absent []string
	// Aliases are paths that lead to one folder or file and must still do so.
	Aliases []Alias
	// Payload is the caller's: what it derived from the files, so that a hit needs
	// only the check. This package does not read it.
	Payload []byte
}

// File is a file that was read.
type File struct {
	Path   string // as it was looked up
	Stamp  stamp.Stamp
	Digest key.Digest // of the content
}

// Folder is a folder whose set of names matters.
type Folder struct {
	Path  string
	Stamp stamp.Stamp
	Names key.Digest // see key.ReadNames
}

// Alias is two paths that lead to one folder or file.
type Alias struct{ A, B string }

// Read reads a file whole, for a List. One that changes while it is read is
// read again. The error for a missing file satisfies key.IsAbsent; for anything
// that is not a regular file it is key.ErrNotRegular, by errors.Is.
func Read(path string) ([]byte, File, error) {
	for range 5 {
		text, before, after, err := readOnce(path)
		if err != nil {
			return nil, File{}, err
		}
		if (before.Same(&after) || before.Mount == stamp.NoMount) && before.Size == uint64(len(text)) {
			return text, File{Path: path, Stamp: before, Digest: key.Sum(text)}, nil
		}
	}
	return nil, File{}, fmt.Errorf("%s: changes while it is read", path)
}

// Digest reads a file for a List, a piece at a time: nobody needs the text of a
// compiler's library of a hundred megabytes. Its errors are those of Read.
func Digest(path string) (File, error) {
	value, in, err := key.ReadInput(key.File, path)
	if err != nil {
		return File{}, err
	}
	return File{Path: path, Stamp: in.Stamp, Digest: key.Digest(value)}, nil
}

func readOnce(path string) (text []byte, before, after stamp.Stamp, err error) {
	now := time.Now().UnixNano()
	// O_NONBLOCK: opening a FIFO must not wait for a writer.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, before, after, err
	}
	defer f.Close()
	if before, err = stampOf(f, now); err != nil {
		return nil, before, after, err
	}
	if text, err = io.ReadAll(f); err != nil {
		return nil, before, after, err
	}
	after, err = stampOf(f, now)
	return text, before, after, err
}

func stampOf(f *os.File, now int64) (stamp.Stamp, error) {
	status := stamp.Status{Read: now}
	if err := status.Of(f); err != nil {
		return stamp.Stamp{}, err
	}
	if status.Kind() != syscall.S_IFREG {
		return stamp.Stamp{}, &os.PathError{Op: "read", Path: f.Name(), Err: key.ErrNotRegular}
	}
	return status.Stamp, nil
}

// Inputs returns the list as inputs of a key, with absolute paths, so that a
// result is not stored if one of them changes while it is compiled.
func (l *List) Inputs() ([]key.Input, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	absolute := func(path string) string {
		if filepath.IsAbs(path) {
			return path
		}
		return dir + "/" + path
	}
	ins := make([]key.Input, 0, len(l.Files)+len(l.Absent)+len(l.Folders))
	for i := range l.Files {
		f := &l.Files[i]
		ins = append(ins, key.Input{Path: absolute(f.Path), Tag: key.File, Stamp: f.Stamp, Value: key.Sum(f.Digest[:])})
	}
	for i := range l.Folders {
		f := &l.Folders[i]
		ins = append(ins, key.Input{Path: absolute(f.Path), Tag: key.Folder, Stamp: f.Stamp, Value: f.Names})
	}
	for _, path := range l.Absent {
		ins = append(ins, key.NewAbsent(absolute(path)))
	}
	for i := range ins {
		if len(ins[i].Path) > key.MaxPath {
			return nil, fmt.Errorf("%.40s…: path of %d bytes, want at most %d", ins[i].Path, len(ins[i].Path), key.MaxPath)
		}
	}
	return ins, nil
}
