package manifest

import (
	"bytes"
	"encoding/binary"
	"errors"

	"jitcache/core/key"
	"jitcache/core/stamp"
)

// A list as bytes, little-endian; docs/format.md has it:
//
//	payload  4   length, then the bytes
//	files    4   count, then per file: path, stamp, digest 32
//	folders  4   count, then per folder: path, stamp, digest 32
//	absent   4   count, then paths
//	aliases  4   count, then two paths each
//
// A stamp is dev, ino, size, mtime, ctime, read, 8 bytes each. A path is how
// many bytes it shares with the path before it, 2, the number of the others, 2,
// and those.
const (
	stampSize = 7 * 8
	pathHead  = 4
	fileSize  = pathHead + stampSize + len(key.Digest{})
)

var errList = errors.New("manifest: malformed")

// Append appends the list as bytes.
func (l *List) Append(dst []byte) []byte {
	le := binary.LittleEndian
	w := writer{b: dst}
	w.b = le.AppendUint32(w.b, uint32(len(l.Payload)))
	w.b = append(w.b, l.Payload...)
	w.b = le.AppendUint32(w.b, uint32(len(l.Files)))
	for i := range l.Files {
		w.entry(l.Files[i].Path, &l.Files[i].Stamp, &l.Files[i].Digest)
	}
	w.b = le.AppendUint32(w.b, uint32(len(l.Folders)))
	for i := range l.Folders {
		w.entry(l.Folders[i].Path, &l.Folders[i].Stamp, &l.Folders[i].Names)
	}
	w.b = le.AppendUint32(w.b, uint32(len(l.Absent)))
	for _, path := range l.Absent {
		w.path(path)
	}
	w.b = le.AppendUint32(w.b, uint32(len(l.Aliases)))
	for _, t := range l.Aliases {
		w.path(t.A)
		w.path(t.B)
	}
	return w.b
}

// writer appends fields; last is the previous path.
type writer struct {
	b    []byte
	last string
}

func (w *writer) path(path string) {
	shared := 0
	for shared < len(path) && shared < len(w.last) && path[shared] == w.last[shared] {
		shared++
	}
	w.b = binary.LittleEndian.AppendUint16(w.b, uint16(shared))
	w.b = binary.LittleEndian.AppendUint16(w.b, uint16(len(path)-shared))
	w.b = append(w.b, path[shared:]...)
	w.last = path
}

func (w *writer) entry(path string, s *stamp.Stamp, digest *key.Digest) {
	w.path(path)
	for _, v := range [...]uint64{s.Dev, s.Ino, s.Size, uint64(s.Mtime), uint64(s.Ctime), uint64(s.Read), s.Mount} {
		w.b = binary.LittleEndian.AppendUint64(w.b, v)
	}
	w.b = append(w.b, digest[:]...)
}

// ParseList reads what Append wrote. The List does not alias b.
func ParseList(b []byte) (*List, error) {
	r := reader{b: b, ok: true}
	l := &List{}
	if n := r.count(1); n > 0 {
		l.Payload = append([]byte(nil), r.take(n)...)
	}
	if n := r.count(fileSize); n > 0 {
		l.Files = make([]File, n)
	}
	for i := range l.Files {
		r.entry(&l.Files[i].Path, &l.Files[i].Stamp, &l.Files[i].Digest)
	}
	if n := r.count(fileSize); n > 0 {
		l.Folders = make([]Folder, n)
	}
	for i := range l.Folders {
		r.entry(&l.Folders[i].Path, &l.Folders[i].Stamp, &l.Folders[i].Names)
	}
	if n := r.count(pathHead); n > 0 {
		l.Absent = make([]string, n)
	}
	for i := range l.Absent {
		l.Absent[i] = r.path()
	}
	if n := r.count(2 * pathHead); n > 0 {
		l.Aliases = make([]Alias, n)
	}
	for i := range l.Aliases {
		l.Aliases[i] = Alias{r.path(), r.path()}
	}
	if !r.ok || len(r.b) != 0 {
		return nil, errList
	}
	return l, nil
}

// reader takes fields off a byte slice. After a field that is not there ok is
// false and everything reads as zero.
type reader struct {
	b    []byte
	ok   bool
	last string
}

func (r *reader) take(n int) []byte {
	if n > len(r.b) {
		r.ok = false
	}
	if !r.ok {
		r.b = nil
		return nil
	}
	v := r.b[:n]
	r.b = r.b[n:]
	return v
}

// count reads the number of items that follow, each of at least size bytes: a
// larger number is refused before anything is allocated for it.
func (r *reader) count(size int) int {
	v := r.take(4)
	if v == nil {
		return 0
	}
	n := binary.LittleEndian.Uint32(v)
	if uint64(n)*uint64(size) > uint64(len(r.b)) {
		r.ok = false
		return 0
	}
	return int(n)
}

// path reads a path. There is no empty one, and none that the system would
// cut short at a NUL.
func (r *reader) path() string {
	head := r.take(pathHead)
	if head == nil {
		return ""
	}
	shared := int(binary.LittleEndian.Uint16(head))
	rest := r.take(int(binary.LittleEndian.Uint16(head[2:])))
	size := shared + len(rest)
	if !r.ok || shared > len(r.last) || size == 0 || size > key.MaxPath {
		r.ok = false
		return ""
	}
	r.ok = bytes.IndexByte(rest, 0) < 0
	r.last = r.last[:shared] + string(rest)
	return r.last
}

func (r *reader) entry(path *string, s *stamp.Stamp, digest *key.Digest) {
	*path = r.path()
	v := r.take(stampSize)
	if v == nil {
		return
	}
	field := func(i int) uint64 { return binary.LittleEndian.Uint64(v[8*i:]) }
	*s = stamp.Stamp{
		Dev: field(0), Ino: field(1), Size: field(2),
		Mtime: int64(field(3)), Ctime: int64(field(4)), Read: int64(field(5)), Mount: field(6),
	}
	copy(digest[:], r.take(len(digest)))
}
