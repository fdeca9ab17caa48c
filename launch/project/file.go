// The file: where it is found, and whose it must be.

package project

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// Name is the name of the file.
const Name = "jitcache.toml"

// most bounds the size of a file.
const most = 64 << 10

// Find returns the path of the file that counts for commands in a folder, "" if there is none:
// the nearest one, in the folder or above. It costs a stat for each folder.
func Find(folder string) string {
	for {
		path := filepath.Join(folder, Name)
		var st syscall.Stat_t
		if syscall.Stat(path, &st) == nil {
			return path
		}
		above := filepath.Dir(folder)
		if above == folder {
			return ""
		}
		folder = above
	}
}

// content returns what is in a file. It is an error if anybody but this user and root may have
// written it.
func content(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, errors.Unwrap(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.Mode().IsRegular():
		return nil, errors.New("it is not a regular file")
	case checksOwner && (!ok || st.Uid != 0 && int(st.Uid) != os.Geteuid()):
		return nil, fmt.Errorf("it belongs to user %d", st.Uid)
	case checksOwner && info.Mode().Perm()&0o002 != 0:
		return nil, errors.New("everybody may write it; to use it: chmod o-w")
	}
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && len(text) > most {
		err = fmt.Errorf("it is larger than %d bytes", most)
	}
	return text, err
}
