// Large outputs, which are stored in pieces.

package launch

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"jitcache/core"
	"jitcache/core/blob"
	"jitcache/core/key"
	"jitcache/core/request"
	"jitcache/core/store"
	"jitcache/observe"
)

// Large outputs are kept in pieces, which are entries of their own: they are read, hashed,
// stored and replayed one after the other. So a command needs no more memory through the
// launcher, however large its outputs are. A result has the digests of its pieces, and a piece
// is found by its digest: equal pieces are kept once.

const (
	// pieceSize is the size of all pieces of an output but the last. It is a multiple of the
	// blocks of all file systems.
	pieceSize = 8 << 20
	// mostInline is how many bytes of outputs are kept in the result itself. A result is in
	// memory twice while it is stored.
	mostInline = 8 << 20
)

// kindOfPieces is the kind of their entries. No statistics of results count it.
const kindOfPieces = "_run"

// errGone says that a piece of a result is not in the cache any more.
var errGone = errors.New("a part of the result is no longer in the cache")

// source is a file whose content is not in memory.
type source struct {
	path string
	stat unix.Stat_t
}

// open opens the file, which must still be the one that was looked at.
func (s *source) open() (*os.File, error) {
	f, err := os.OpenFile(s.path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, request.Refuse(s.path, "cannot be read")
	}
	if err := s.unchanged(f); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func (s *source) unchanged(f *os.File) error {
	var now unix.Stat_t
	if unix.Fstat(int(f.Fd()), &now) != nil || now.Ino != s.stat.Ino || now.Mtim != s.stat.Mtim || now.Size != s.stat.Size {
		return request.Refuse(s.path, "changes while it is read")
	}
	return nil
}

// each calls fn for each piece of the file, in order. The bytes are valid until fn returns.
// buffer has room for a piece: a new one for each file would stay in memory for a while.
func (s *source) each(buffer []byte, fn func(piece []byte) error) error {
	f, err := s.open()
	if err != nil {
		return err
	}
	defer f.Close()
	for left := s.stat.Size; left > 0; {
		piece := buffer[:min(left, pieceSize)]
		if _, err := io.ReadFull(f, piece); err != nil {
			return request.Refuse(s.path, "changes while it is read")
		}
		left -= int64(len(piece))
		if err := fn(piece); err != nil {
			return err
		}
	}
	return s.unchanged(f)
}

// names reports whether the file has the path of a place in it, and a byte 0.
func (s *source) names(buffer []byte, places []string) (named, binary bool, err error) {
	longest := 0
	for _, p := range places {
		longest = max(longest, len(p))
	}
	var end []byte // of the pieces before, and the beginning of the next one
	has := func(b []byte) bool {
		for _, p := range places {
			if bytes.Contains(b, []byte(p)) {
				return true
			}
		}
		return false
	}
	err = s.each(buffer, func(piece []byte) error {
		end = append(end, piece[:min(len(piece), longest)]...)
		named = named || has(end) || has(piece)
		binary = binary || bytes.IndexByte(piece, 0) >= 0
		end = append(end[:0], piece[max(0, len(piece)-longest):]...)
		return nil
	})
	return named, binary, err
}

// large takes the file that was added last, without its content.
func (t *taker) large(path string) error {
	o := &t.result.outputs[len(t.result.outputs)-1]
	s := &source{path, t.stats[len(t.stats)-1]}
	var places []string
	for _, p := range t.request.places {
		places = append(places, p.Path)
	}
	if len(places) == 0 || !marks {
		o.source = s
		return nil
	}
	if t.buffer == nil {
		t.buffer = make([]byte, pieceSize)
	}
	named, binary, err := s.names(t.buffer, places)
	switch {
	case err != nil:
		return err
	case named && !binary: // a text, whose names are replaced: it has to be in memory
		err = s.each(t.buffer, func(piece []byte) error {
			o.data = append(o.data, piece...)
			return nil
		})
		if err == nil {
			o.data, o.marked, err = t.mark(path, o.data)
		}
		return err
	case named:
		_, _, err = t.mark(path, append([]byte{0}, places[0]...))
		return err
	}
	o.source = s
	return nil
}

// keepPieces stores the outputs that are kept in pieces.
func (l *lookup) keepPieces(r *result) (store.Reason, error) {
	var buffer []byte
	for i := range r.outputs {
		o := &r.outputs[i]
		if o.source == nil {
			continue
		}
		if buffer == nil {
			buffer = make([]byte, pieceSize)
		}
		why := store.None
		err := o.source.each(buffer, func(piece []byte) error {
			digest := key.Sum(piece)
			o.pieces = append(o.pieces, digest)
			if why == store.None {
				why = l.cache.Put(pieceKey(digest, l.request.request.Name), piece, "", false)
			}
			return nil
		})
		if err != nil || why != store.None {
			return why, err
		}
	}
	return store.None, nil
}

func pieceKey(digest key.Digest, name string) *key.Key {
	b := key.NewBuilder()
	b.Add("content", digest[:])
	b.SetKind(kindOfPieces)
	b.SetName(name)
	return mustSeal(b)
}

// findPiece returns a piece, which the caller releases; nil if it is gone.
func findPiece(c *core.Cache, digest key.Digest) *blob.Blob {
	b, _, _ := c.PeekFrom(&pieceKey(digest, "").ID)
	if b != nil && key.Sum(b.Data()) != digest {
		b.Release()
		return nil
	}
	return b
}

// each calls fn for the content of an output, from its beginning, in one or more parts.
func (r *result) each(o *output, fn func(part []byte) error) error {
	if len(o.pieces) == 0 {
		return fn(o.data)
	}
	for _, digest := range o.pieces {
		b := findPiece(r.cache, digest)
		if b == nil {
			return errGone
		}
		err := fn(b.Data())
		b.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

// ---- as bytes

// appendPieces appends which outputs are kept in pieces, and in which.
func (r *result) appendPieces(b []byte) []byte {
	count := 0
	for i := range r.outputs {
		count += int(flag(len(r.outputs[i].pieces) > 0))
	}
	b = binary.AppendUvarint(b, uint64(count))
	for i := range r.outputs {
		digests := r.outputs[i].pieces
		if len(digests) == 0 {
			continue
		}
		b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(i)), uint64(len(digests)))
		for _, digest := range digests {
			b = append(b, digest[:]...)
		}
	}
	return b
}

// parsePieces reads what appendPieces wrote. sizes are those of the contents in the result.
func (r *result) parsePieces(d *decoder, sizes []uint64) bool {
	for count := d.count(); count > 0; count-- {
		i, n := d.number(), d.count()
		if i >= uint64(len(r.outputs)) || n == 0 || n > len(d.b)/len(key.Digest{}) {
			return false
		}
		o := &r.outputs[i]
		if o.kind != regular || sizes[i] != 0 || o.marked || len(o.pieces) > 0 {
			return false
		}
		for range n {
			o.pieces = append(o.pieces, key.Digest(d.take(uint64(len(key.Digest{})))))
		}
	}
	return true
}

// ---- what is larger than the cache may be

const tooLarge = "is larger than the cache may be"

// reasonOf is the reason of a refusal in the statistics.
func reasonOf(refused *request.Refused) store.Reason {
	if refused.Why == tooLarge {
		return store.TooLarge
	}
	return store.Unrepeatable
}

// overCap refuses a command that has left more than the cache may hold. It looks only at
// sizes: a file of terabytes is not read.
func (l *lookup) overCap(rep *observe.Report) error {
	limit := l.cache.Limit()
	total, largest, what := int64(0), int64(-1), ""
	for i := range rep.Files {
		var st unix.Stat_t
		path := rep.Files[i].Path
		if rep.Files[i].How&(observe.Created|observe.Replaced) == 0 || unix.Lstat(path, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
			continue
		}
		total += st.Size
		if st.Size > largest {
			largest, what = st.Size, path
		}
	}
	if limit > 0 && total > limit && seesSizes {
		return request.Refuse(what, tooLarge)
	}
	return nil
}
