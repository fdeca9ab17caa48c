// Digests of the contents of files, remembered by the files' stamps.

package record

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"jitcache/core/key"
	"jitcache/core/request"
)

// digests computes the digests of files' contents. The process remembers each with the
// file's stamp, because the next compile looks at the same headers. Digests of large files,
// mostly compilers and their libraries, are noted in the cache too: clang has 200 MB, which
// take a tenth of a second to read.
type digests struct {
	notes Notes
	last  []byte // the content of the file that of has read last, nil if it was large, or was not read
}

// mostRecent is how many files a process remembers: 400 kB, four times what C++ with all
// of the standard library looks at.
const mostRecent = 4096

// recent has the digests of files that this process has read, by their stamps without the
// time of reading.
var recent = request.NewTable[Stamp, key.Digest](mostRecent)

// recall returns the remembered digest of the file with this stamp.
func recall(s Stamp) (d key.Digest, known bool) {
	s.Read = 0
	return recent.Find(s)
}

func remember(s Stamp, d key.Digest) {
	s.Read = 0
	recent.Put(s, d)
}

// large is the size from which on a note is cheaper than reading.
const large = 256 << 10

// of returns the digest of the file at a path, and its stamp. was is the stamp that stat
// gave a moment ago. Nothing is remembered if the file that is read has another stamp, or
// one that proves nothing.
func (d *digests) of(path string, was *Stamp) (key.Digest, Stamp, error) {
	var note *key.Key
	d.last = nil
	if was.Proves() {
		if digest, known := recall(*was); known {
			return digest, *was, nil
		}
	}
	if d.notes != nil && was.Size >= large && was.Proves() {
		note = noteOf("digest 1", was)
		if data := d.notes.LoadNote(&note.ID); len(data) == len(key.Digest{}) {
			remember(*was, key.Digest(data))
			return key.Digest(data), *was, nil
		}
	}
	var digest key.Digest
	var stamp Stamp
	var err error
	if was.Size < large {
		d.last = readAsStamped(path, was)
	}
	if d.last != nil {
		digest, stamp = key.Sum(d.last), *was
	} else {
		digest, stamp, err = contentOf(path) // it may be large
	}
	if err == nil && stamp.Same(was) && stamp.Proves() {
		remember(stamp, digest)
		if note != nil {
			d.notes.SaveNote(note, digest[:])
		}
	}
	return digest, stamp, err
}

// noteOf is the key of a note about a file with a stamp.
func noteOf(what string, s *Stamp) *key.Key {
	b := key.NewBuilder()
	b.Add("what", []byte(what))
	var numbers []byte
	for _, v := range []uint64{s.Dev, s.Ino, s.Size, uint64(s.Mtime), uint64(s.Ctime), s.Mount} {
		numbers = binary.LittleEndian.AppendUint64(numbers, v)
	}
	b.Add("stamp", numbers)
	b.SetKind(key.NoteKind)
	k, err := b.Seal()
	if err != nil { // two labels, both plain
		panic(err)
	}
	return k
}

// contentOf returns the digest and the stamp of a file. It reads again if the file changes
// meanwhile.
func contentOf(path string) (digest key.Digest, stamp Stamp, err error) {
	err = steady(path, func(f *os.File) error {
		digest, err = key.SumReader(f)
		return err
	}, &stamp)
	return digest, stamp, err
}

// readAll reads a file. It returns an error for one of more than most bytes.
func readAll(path string, most int64) (data []byte, stamp Stamp, err error) {
	err = steady(path, func(f *os.File) error {
		data, err = io.ReadAll(io.LimitReader(f, most+1))
		if err == nil && int64(len(data)) > most {
			err = fmt.Errorf("%s: larger than %d bytes", path, most)
		}
		return err
	}, &stamp)
	return data, stamp, err
}

// steady opens a regular file and calls read, again and up to five times if the file
// changes meanwhile.
func steady(path string, read func(*os.File) error, stamp *Stamp) error {
	for range 5 {
		before := status{Read: time.Now().UnixNano()}
		// O_NONBLOCK: opening a FIFO must not wait for a writer.
		f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC|unix.O_NOCTTY, 0)
		if err != nil {
			return err
		}
		*stamp, err = between(f, &before, read)
		f.Close()
		if err != errMoved {
			return err
		}
	}
	return fmt.Errorf("%s: changes while it is read", path)
}

var errMoved = errors.New("changed while it was read")

func between(f *os.File, before *status, read func(*os.File) error) (Stamp, error) {
	if err := before.Of(f); err != nil {
		return Stamp{}, err
	}
	if before.Kind() != unix.S_IFREG {
		return Stamp{}, key.ErrNotRegular
	}
	if err := read(f); err != nil {
		return Stamp{}, err
	}
	after := status{Read: before.Read}
	if err := after.Of(f); err != nil {
		return Stamp{}, err
	}
	if !before.Stamp.Same(&after.Stamp) && before.Stamp.Mount != noMount {
		return Stamp{}, errMoved
	}
	return before.Stamp, nil
}
