package manifest

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"jitcache/core/key"
)

// List is what one result was made from. A List is for one goroutine.
type List struct {
	Files   []File
	Folders []Folder
	// Absent are the paths under which there was no file. A folder of such a name
	// counts as no file.
	Absent []string
	// Aliases are paths that lead to one folder or file and must go on doing so.
	Aliases []Alias
	// Payload is the caller's: what it derived from the files, so that a hit needs
	// nothing but the check. Not looked at.
	Payload []byte
}

// File is a file that was read.
type File struct {
	Path   string // as it was looked up
	Stamp  key.Stamp
	Digest key.Digest // of the content
}

// Folder is a folder whose set of names matters.
type Folder struct {
	Path  string
	Stamp key.Stamp
	Names key.Digest // see key.ReadNames
}

// Alias is two paths that lead to one folder or file.
type Alias struct{ A, B string }

// Read reads a file whole, for a List. One that changes while it is read is
// read again. The error of a missing file satisfies key.IsAbsent, that of
// anything that is no regular file errors.Is key.ErrNotRegular.
func Read(path string) ([]byte, File, error) {
	for range 5 {
		text, before, after, err := readOnce(path)
		if err != nil {
			return nil, File{}, err
		}
		if before.Same(&after) && before.Size == int64(len(text)) {
			return text, File{Path: path, Stamp: before, Digest: key.Sum(text)}, nil
		}
	}
	return nil, File{}, fmt.Errorf("%s: changes while it is read", path)
}

// Digest reads a file for a List, a piece at a time: of a compiler's library of a
// hundred megabytes nobody needs the text. Its errors are those of Read.
func Digest(path string) (File, error) {
	value, in, err := key.ReadInput(key.File, path)
	if err != nil {
		return File{}, err
	}
	return File{Path: path, Stamp: in.Stamp, Digest: key.Digest(value)}, nil
}

func readOnce(path string) (text []byte, before, after key.Stamp, err error) {
	now := time.Now().UnixNano()
	// O_NONBLOCK: opening a FIFO must not wait for a writer.
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, before, after, &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer syscall.Close(fd)
	if before, err = stampOf(fd, path, now); err != nil {
		return nil, before, after, err
	}
	text = make([]byte, before.Size+1) // one more: the read that fits says that all was read
	n := 0
	for n < len(text) {
		m, err := syscall.Read(fd, text[n:])
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return nil, before, after, &os.PathError{Op: "read", Path: path, Err: err}
		}
		if m == 0 {
			break
		}
		n += m
	}
	after, err = stampOf(fd, path, now)
	return text[:n], before, after, err
}

func stampOf(fd int, path string, now int64) (key.Stamp, error) {
	var st syscall.Stat_t
	if err := syscall.Fstat(fd, &st); err != nil {
		return key.Stamp{}, &os.PathError{Op: "stat", Path: path, Err: err}
	}
	if st.Mode&syscall.S_IFMT != syscall.S_IFREG {
		return key.Stamp{}, &os.PathError{Op: "read", Path: path, Err: key.ErrNotRegular}
	}
	return key.StampOf(&st, now), nil
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
