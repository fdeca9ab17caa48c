// A directory on a shared disk as a remote.

package engine

import (
	"context"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"syscall"
)

// inFile keeps values in a directory on a disk that several machines share. A value is written
// to a temporary file and renamed to its name, so nobody reads half of one.
type inFile struct {
	root   string
	layout string
}

func openFile(c *Config) (Engine, error) {
	layout, err := c.layout()
	if err != nil {
		return nil, err
	}
	if c.URL.Host != "" || !filepath.IsAbs(c.URL.Path) {
		return nil, usage("%s: want file:///DIRECTORY", (&url.URL{Scheme: "file", Host: c.URL.Host, Path: c.URL.Path}).String())
	}
	return newWaited(&inFile{filepath.Clean(c.URL.Path), layout}), nil
}

func (e *inFile) pathOf(n Name) string { return e.root + "/" + n.pathIn(e.layout) }

func (e *inFile) Get(_ context.Context, n Name, limit int64) ([]byte, error) {
	f, err := os.OpenFile(e.pathOf(n), os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, ofFile(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, ofFile(err)
	}
	if !info.Mode().IsRegular() {
		return nil, wrap(ErrRefused, "not a regular file")
	}
	return readAll(f, info.Size(), limit)
}

func (e *inFile) Put(_ context.Context, n Name, value []byte, overwrite bool) (bool, error) {
	path := e.pathOf(n)
	if !overwrite {
		if _, err := os.Lstat(path); err == nil {
			return false, nil
		}
	}
	if err := e.makeFolders(filepath.Dir(path)); err != nil {
		return false, ofFile(err)
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".put-")
	if err != nil {
		return false, ofFile(err)
	}
	_, err = f.Write(value)
	if e := f.Chmod(0o644); err == nil {
		err = e
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil && !overwrite {
		// Unlike rename, link fails if another value has come meanwhile.
		err = os.Link(f.Name(), path)
		os.Remove(f.Name())
		if errors.Is(err, fs.ErrExist) {
			return false, nil
		}
		return err == nil, ofFile(err)
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err == nil, ofFile(err)
}

// makeFolders makes a folder and those above it below the root. The root must exist, because without
// it the disk is not mounted. The folders get the root's mode, whatever the helper's umask: the
// root says who may write them.
func (e *inFile) makeFolders(path string) error {
	root, err := os.Stat(e.root)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return wrap(ErrRefused, "the directory does not exist")
	case err != nil || path == e.root:
		return err
	}
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	if err := e.makeFolders(filepath.Dir(path)); err != nil {
		return err
	}
	switch err := os.Mkdir(path, 0o777); {
	case errors.Is(err, fs.ErrExist):
		return nil
	case err != nil || !sharesFolders:
		return err
	}
	return os.Chmod(path, root.Mode()&(fs.ModePerm|fs.ModeSetgid|fs.ModeSticky))
}

func (e *inFile) Remove(_ context.Context, n Name) (bool, error) {
	err := os.Remove(e.pathOf(n))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, ofFile(err)
}

// Atomic: link(2) is, on every file system that has links.
func (e *inFile) Atomic() bool { return true }

func (e *inFile) Probe(context.Context) error {
	_, err := os.Stat(e.root)
	return ofFile(err)
}

func (e *inFile) Close() {}

// ofFile returns an error without its path.
func ofFile(err error) error {
	var why syscall.Errno
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return ErrNotFound
	case errors.As(err, &why):
		return wrap(ErrRefused, why.Error())
	}
	return err
}
