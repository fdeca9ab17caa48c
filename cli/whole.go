// Files that the user has named, written whole or not at all.

package cli

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// writeWhole writes a file that the user has named, or leaves what was there: a full disk
// costs nobody the older file. A device or a pipe is written to, and no file takes its
// place. What a link leads to is replaced, and not the link.
func writeWhole(path string, write func(io.Writer) error) error {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return errors.Join(write(f), f.Close())
	}
	target, mode := path, os.FileMode(0o666)
	if err == nil {
		mode = info.Mode().Perm()
		if real, err := filepath.EvalSymlinks(path); err == nil {
			target = real
		}
	}
	draft := filepath.Join(filepath.Dir(target), fmt.Sprintf(".jitcache-%016x", rand.Uint64()))
	if err := writeDraft(draft, mode, write); err != nil {
		return fmt.Errorf("%s: %w", path, bare(err))
	}
	if err := os.Rename(draft, target); err != nil {
		os.Remove(draft)
		return fmt.Errorf("%s: %w", path, bare(err))
	}
	return nil
}

// writeDraft writes a new file, and leaves none if it fails.
func writeDraft(draft string, mode os.FileMode, write func(io.Writer) error) error {
	f, err := os.OpenFile(draft, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	if err := errors.Join(write(f), f.Close()); err != nil {
		os.Remove(draft)
		return err
	}
	return nil
}

// bare takes the name of a draft out of an error: the user has not chosen it.
func bare(err error) error {
	var of *os.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &of):
		return of.Err
	case errors.As(err, &link):
		return link.Err
	}
	return err
}
