package key

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// Input is a file as it was when a key read it, a name under which there was
// none, or a folder for the names in it. Everything but Path is there to
// notice a change later.
type Input struct {
	Path string // absolute
	// Tag is File or Tool, how Value was computed; or Absent, and all below is
	// zero; or Folder.
	Tag Tag
	Stamp
	// Value is the digest of the component's value; of a Folder that of the names
	// in it, see ReadNames.
	Value Digest
}

// ErrNotRegular is returned for an input that is a directory, device or pipe.
var ErrNotRegular = errors.New("not a regular file")

// ReadInput reads a file for a component with tag File or Tool. It returns the
// component's value and the file as it was.
func ReadInput(tag Tag, path string) (value []byte, in Input, err error) {
	if path, err = filepath.Abs(path); err != nil {
		return nil, Input{}, err
	}
	if len(path) > MaxPath {
		return nil, Input{}, fmt.Errorf("%.40s…: path of %d bytes, want at most %d", path, len(path), MaxPath)
	}
	// A file that changes while it is read is read again; one that never rests
	// cannot be keyed.
	for range 5 {
		var before, after Input
		if value, before, after, err = readOnce(tag, path); err != nil {
			return nil, Input{}, err
		}
		if before.Same(&after.Stamp) {
			before.Value = Sum(value)
			return value, before, nil
		}
	}
	return nil, Input{}, fmt.Errorf("%s: changes while it is read", path)
}

func readOnce(tag Tag, path string) (value []byte, before, after Input, err error) {
	now := time.Now().UnixNano()
	// O_NONBLOCK: opening a FIFO must not wait for a writer.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, before, after, err
	}
	defer f.Close()
	if before, err = stamp(f, tag, path, now); err != nil {
		return nil, before, after, err
	}
	if tag == Tool {
		value, err = toolIdentity(f)
	} else {
		value, err = contentDigest(f)
	}
	if err != nil {
		return nil, before, after, err
	}
	after, err = stamp(f, tag, path, now)
	return value, before, after, err
}

func contentDigest(f *os.File) ([]byte, error) {
	d, err := SumReader(f)
	return d[:], err
}

func stamp(f *os.File, tag Tag, path string, now int64) (Input, error) {
	var st syscall.Stat_t
	if err := syscall.Fstat(int(f.Fd()), &st); err != nil {
		return Input{}, &os.PathError{Op: "stat", Path: path, Err: err}
	}
	return stampOf(&st, tag, path, now)
}

func stampOf(st *syscall.Stat_t, tag Tag, path string, now int64) (Input, error) {
	if st.Mode&syscall.S_IFMT != syscall.S_IFREG {
		return Input{}, &os.PathError{Op: "read", Path: path, Err: ErrNotRegular}
	}
	return Input{Path: path, Tag: tag, Stamp: StampOf(st, now)}, nil
}

// Changed reports whether the file may differ from what the key has read, and
// why. A result that was compiled in between must then not be stored: it would
// be a wrong hit for ever.
//
// It compares what stat says. Where the time stamps are too fresh to prove
// anything the file is read again, and only its content decides: refusing such
// a file would mean that a source edited a moment ago is never cached at its
// first run, which is the run that people wait for.
func (in Input) Changed() (reason string, changed bool) {
	if !checkInputs {
		return "", false
	}
	switch in.Tag {
	case Absent:
		return in.appeared()
	case Folder:
		return in.namesChanged()
	}
	var st syscall.Stat_t
	if err := syscall.Stat(in.Path, &st); err != nil {
		return fmt.Sprintf("%s: %v", in.Path, err), true
	}
	now, err := stampOf(&st, in.Tag, in.Path, in.Read)
	if err != nil {
		return err.Error(), true
	}
	if !in.Same(&now.Stamp) {
		return in.Path + ": changed since the key was computed", true
	}
	if in.Fresh() {
		if _, again, err := ReadInput(in.Tag, in.Path); err != nil || again.Value != in.Value {
			return in.Path + ": changed since the key was computed", true
		}
	}
	return "", false
}
