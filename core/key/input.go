// Input: a file as it was read for a key, and whether it has changed since.

package key

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"jitcache/core/stamp"
)

// Input is a file as it was when it was read for a key, a path where there was no
// file, or the names in a folder. All fields but Path serve to notice a change.
type Input struct {
	Path string // absolute
	// Tag is File or Tool, which say how Value was computed; or Folder; or Absent, for
	// which the fields below are zero.
	Tag Tag
	stamp.Stamp
	// Value is the digest of the component's value. For a Folder it is that of the
	// names in it, see ReadNames.
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
	// A file that changes while it is read is read again; one that never stops
	// changing cannot be keyed.
	for range 5 {
		var before, after Input
		if value, before, after, err = readOnce(tag, path); err != nil {
			return nil, Input{}, err
		}
		if before.Same(&after.Stamp) || before.Mount == stamp.NoMount {
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
	if before, err = inputOf(f, tag, path, now); err != nil {
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
	after, err = inputOf(f, tag, path, now)
	return value, before, after, err
}

func inputOf(f *os.File, tag Tag, path string, now int64) (Input, error) {
	status := stamp.Status{Read: now}
	if err := status.Of(f); err != nil {
		return Input{}, err
	}
	if status.Kind() != syscall.S_IFREG {
		return Input{}, &os.PathError{Op: "read", Path: path, Err: ErrNotRegular}
	}
	return Input{Path: path, Tag: tag, Stamp: status.Stamp}, nil
}

// Changed reports whether the file may have changed since it was read for the key,
// and why it says so. A result that was compiled in between must then not be stored:
// it would be a wrong hit for ever.
//
// It compares the results of stat. If the time stamps prove nothing, because they are
// too fresh or cannot be trusted, it reads the file again, and only its content
// decides. If it refused such a file, a source edited a moment ago would never be
// cached at its first run, which is the run that people wait for.
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
	status := stamp.Status{Read: in.Read}
	switch errno := status.At(append([]byte(in.Path), 0), 0); {
	case errno != 0:
		return fmt.Sprintf("%s: %v", in.Path, errno), true
	case status.Kind() != syscall.S_IFREG:
		return fmt.Sprintf("%s: %v", in.Path, ErrNotRegular), true
	case in.Same(&status.Stamp) && in.Proves():
		return "", false
	case in.Same(&status.Stamp):
		if _, again, err := ReadInput(in.Tag, in.Path); err == nil && again.Value == in.Value {
			return "", false
		}
	}
	return in.Path + ": changed since the key was computed", true
}
