// Create: packs entries into a bundle, or makes a directory of them that serves as a layer.

package bundle

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/klauspost/compress/zstd"

	"jitcache/core"
	"jitcache/core/blob"
	"jitcache/core/key"
	"jitcache/core/store"
)

// Packed counts the entries of a bundle that was made.
type Packed struct {
	Entries int
	Bytes   int64 // of their files
	// Left were not packed: they cannot be read, or only a withdrawn key vouches for them.
	Left int
}

// Progress is called with the number of entries that are done, and of all. It may be nil.
type Progress func(done, all int)

// Create packs the entries of ids, which are in ascending order, into a bundle. The file
// appears at path when it is complete, or not at all.
func Create(c *core.Cache, ids []key.ID, path string, p Progress) (packed Packed, err error) {
	err = whole(path, func(draft string) error {
		f, err := os.OpenFile(draft, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if err != nil {
			return err
		}
		packed, err = Write(f, c, ids, p)
		return errors.Join(err, f.Close())
	})
	return packed, err
}

// whole calls make to write a draft beside path, and renames the draft to path when it is
// complete. The draft's name is random and not a process number, because processes of two
// containers may have the same number, and a killed process leaves its draft behind. whole
// refuses to replace a device or a pipe: nobody wants a file in its place.
func whole(path string, make func(draft string) error) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() && !info.IsDir() && sparesDevices {
		return fmt.Errorf("%s is not a regular file", path)
	}
	draft := fmt.Sprintf("%s.%016x.part", filepath.Clean(path), rand.Uint64())
	err := make(draft)
	if err == nil {
		err = os.Rename(draft, path)
	}
	if err != nil {
		os.RemoveAll(draft)
	}
	return renamed(err, draft, path)
}

// renamed has an error of a draft name the path that the user has chosen.
func renamed(err error, draft, path string) error {
	var of *os.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &of) && of.Path == draft:
		return &os.PathError{Op: of.Op, Path: path, Err: of.Err}
	case errors.As(err, &link) && link.Old == draft:
		return &os.PathError{Op: link.Op, Path: path, Err: link.Err}
	}
	return err
}

// Write writes a bundle with the entries of ids, which are in ascending order.
func Write(to io.Writer, c *core.Cache, ids []key.ID, p Progress) (Packed, error) {
	z, err := zstd.NewWriter(to)
	if err != nil {
		return Packed{}, err
	}
	t := tar.NewWriter(z)
	packed, err := each(c, ids, p, func(b *blob.Blob) error {
		id := key.ID(b.ID())
		return writeFile(t, nameOf(&id), b)
	})
	if err == nil {
		err = t.Close()
	}
	return packed, errors.Join(err, z.Close())
}

// each calls fn for each entry that a lookup would use. b.Buffer is its file.
func each(c *core.Cache, ids []key.ID, p Progress, fn func(b *blob.Blob) error) (packed Packed, err error) {
	if len(ids) > Usual.Count {
		return packed, fmt.Errorf("%d entries are more than the %d that a bundle may have; say which", len(ids), Usual.Count)
	}
	for i := range ids {
		if p != nil {
			p(i, len(ids))
		}
		b, why := c.Holds(&ids[i])
		if why == store.Absent {
			continue // lists may name results that were evicted
		}
		if why != store.None || b.Capacity() > int(Usual.Entry) {
			packed.Left++
			continue
		}
		err := fn(b)
		packed.Entries++
		packed.Bytes += int64(b.Capacity())
		b.Release()
		if err != nil {
			return packed, err
		}
	}
	return packed, nil
}

// writeFile writes an entry to an archive. The header says nothing about this machine.
func writeFile(t *tar.Writer, name string, b *blob.Blob) error {
	created, _ := b.Created()
	if err := t.WriteHeader(header(name, int64(b.Capacity()), created)); err != nil {
		return err
	}
	_, err := t.Write(b.Buffer())
	return err
}

// latest is the last second that the header of an archive has room for.
const latest = 1<<33 - 1

func header(name string, size, made int64) *tar.Header {
	at := time.Unix(min(max(made/1e9, 0), latest), 0)
	h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o644, ModTime: at, Format: tar.FormatUSTAR}
	if name[len(name)-1] == '/' {
		h.Typeflag, h.Mode = tar.TypeDir, 0o755
	}
	return h
}

// CreateLayer makes a directory with the entries of ids, which can be used as a layer.
// Everybody may read it. It appears at path when it is complete, and must not exist before.
func CreateLayer(c *core.Cache, ids []key.ID, path string, p Progress) (packed Packed, err error) {
	err = whole(path, func(draft string) error {
		if err := makeFolder(path, draft); err != nil {
			return err
		}
		unlimited := int64(0)
		layer, err := store.Open(store.Options{Directory: draft, MaxSize: &unlimited})
		if err != nil {
			return err
		}
		packed, err = each(c, ids, p, func(b *blob.Blob) error {
			if _, why := layer.Copy(b, nil); why != store.None {
				return fmt.Errorf("%s: %v", draft, why)
			}
			return nil
		})
		layer.Flush()
		return err
	})
	return packed, err
}

// makeFolder makes the draft of a folder. The folder itself must not exist.
func makeFolder(path, draft string) error {
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("%s is there already", path)
	}
	if err := os.Mkdir(draft, 0o755); err != nil {
		return err
	}
	return os.Chmod(draft, 0o755) // independent of the umask
}
