// Inputs that are not the content of a file: a path where nothing is, and the names in a folder.

package key

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"syscall"
	"time"

	"jitcache/core/stamp"
)

// IsAbsent reports whether err, of a stat or an open, says that there is no
// such file and cannot be one until a folder on its path changes.
func IsAbsent(err error) bool {
	return errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ENAMETOOLONG) ||
		errors.Is(err, syscall.ELOOP) // links in a circle
}

// NewAbsent returns the input for a file that was looked for in vain. It has changed
// once the file exists; a folder at that path is no change.
func NewAbsent(path string) Input { return Input{Path: path, Tag: Absent} }

// ReadNames reads the names in a folder, sorted. The digest is of the names, each
// after its size as u16. at is the folder's stamp.
func ReadNames(path string) (names []string, digest Digest, at stamp.Stamp, err error) {
	for range 5 {
		names, before, after, err := readNamesOnce(path)
		if err != nil {
			return nil, Digest{}, stamp.Stamp{}, err
		}
		if before.Same(&after) || before.Mount == stamp.NoMount {
			var list []byte
			for _, name := range names {
				list = appendString(list, name)
			}
			return names, Sum(list), before, nil
		}
	}
	return nil, Digest{}, stamp.Stamp{}, fmt.Errorf("%s: changes while it is read", path)
}

func readNamesOnce(path string) (names []string, before, after stamp.Stamp, err error) {
	now := time.Now().UnixNano()
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, before, after, err
	}
	defer f.Close()
	if before, err = folderStamp(f, now); err != nil {
		return nil, before, after, err
	}
	if names, err = f.Readdirnames(-1); err != nil && err != io.EOF {
		return nil, before, after, err
	}
	slices.Sort(names)
	after, err = folderStamp(f, now)
	return names, before, after, err
}

func folderStamp(f *os.File, now int64) (stamp.Stamp, error) {
	status := stamp.Status{Read: now}
	err := status.Of(f)
	return status.Stamp, err
}

func (in *Input) appeared() (reason string, changed bool) {
	var st syscall.Stat_t
	switch err := syscall.Stat(in.Path, &st); {
	case IsAbsent(err), err == nil && st.Mode&syscall.S_IFMT == syscall.S_IFDIR:
		return "", false
	case err != nil:
		return fmt.Sprintf("%s: %v", in.Path, err), true
	}
	return in.Path + ": did not exist when the key was computed", true
}

func (in *Input) namesChanged() (reason string, changed bool) {
	path, status := append([]byte(in.Path), 0), stamp.Status{Read: in.Read}
	if errno := status.At(path, 0); errno != 0 {
		return fmt.Sprintf("%s: %v", in.Path, errno), true
	}
	if in.Same(&status.Stamp) && in.Proves() && status.NamesProved() {
		return "", false
	}
	if _, value, _, err := ReadNames(in.Path); err != nil || value != in.Value {
		return in.Path + ": the names in it have changed since the key was computed", true
	}
	return "", false
}
