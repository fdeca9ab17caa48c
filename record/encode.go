// Lists as bytes.

package record

import (
	"encoding/binary"
	"errors"
	"slices"
	"syscall"

	"jitcache/core/key"
)

// A list as bytes: docs/format.md, "Lists". Numbers are varints. A path is the
// number of bytes that it shares with the one before it in its section, the
// number of bytes that follow, and those.
const listMagic = "jclist\x00\x06"

var errList = errors.New("list: malformed")

// encoder appends to b. before is the last path: the next one shares a prefix with it.
type encoder struct {
	b      []byte
	before string
}

// These are not inlined: that would take 28 KB of the library, for 1 ns a call.

//go:noinline
func (e *encoder) number(v uint64) { e.b = binary.AppendUvarint(e.b, v) }

//go:noinline
func (e *encoder) signed(v int64) { e.b = binary.AppendVarint(e.b, v) }

//go:noinline
func (e *encoder) text(s string) {
	e.number(uint64(len(s)))
	e.b = append(e.b, s...)
}

func (e *encoder) texts(all []string) {
	e.number(uint64(len(all)))
	for _, s := range all {
		e.text(s)
	}
}

func (e *encoder) path(p string) {
	n := 0
	for n < len(p) && n < len(e.before) && p[n] == e.before[n] {
		n++
	}
	e.number(uint64(n))
	e.text(p[n:])
	e.before = p
}

func (e *encoder) section(n int) {
	e.number(uint64(n))
	e.before = ""
}

// stamp writes a stamp. Times are written as differences, which are short.
func (e *encoder) stamp(s *Stamp) {
	e.number(s.Dev)
	e.number(s.Ino)
	e.number(s.Size)
	e.signed(s.Ctime)
	e.signed(s.Ctime - s.Mtime)
	e.signed(s.Read - s.Ctime)
	e.number(s.Mount)
}

// Append appends the list as bytes.
func (l *List) Append(dst []byte) []byte {
	e := encoder{b: append(dst, listMagic...)}
	e.section(len(l.Files))
	for i := range l.Files {
		f := &l.Files[i]
		e.path(f.Path)
		e.number(uint64(f.Flags))
		e.number(uint64(f.Mode))
		e.stamp(&f.Stamp)
		e.b = append(e.b, f.Digest[:]...)
		if f.Flags&Owned != 0 {
			e.number(f.Owner)
		}
	}
	e.section(len(l.Folders))
	for i := range l.Folders {
		e.folder(&l.Folders[i])
	}
	e.section(len(l.Links))
	for i := range l.Links {
		e.path(l.Links[i].Path)
		e.text(l.Links[i].Text)
	}
	e.section(len(l.Failures))
	for i := range l.Failures {
		e.path(l.Failures[i].Path)
		e.number(uint64(l.Failures[i].Errno))
	}
	e.section(len(l.Kinds))
	for i := range l.Kinds {
		e.path(l.Kinds[i].Path)
		e.kind(&l.Kinds[i])
	}
	e.section(len(l.Permits))
	for i := range l.Permits {
		e.path(l.Permits[i].Path)
		e.number(uint64(l.Permits[i].How))
		e.number(uint64(l.Permits[i].Errno))
	}
	e.world(&l.World)
	e.text(string(l.Payload))
	return e.b
}

func (e *encoder) folder(f *Folder) {
	e.path(f.Path)
	e.number(uint64(f.Flags))
	e.stamp(&f.Stamp)
	e.texts(f.Absent)
	if f.Flags&Listed != 0 {
		e.b = append(e.b, f.Names[:]...)
		e.texts(f.Except)
	}
}

func (e *encoder) world(w *World) {
	e.text(w.Dir)
	e.number(uint64(w.Rule))
	e.texts(w.Also)
	e.section(len(w.Variables))
	for i := range w.Variables {
		e.text(w.Variables[i].Name)
		e.b = append(e.b, w.Variables[i].Value[:]...)
	}
	for _, d := range []key.Digest{w.CPU, w.Host, w.Limits} {
		if d == (key.Digest{}) {
			e.number(0)
			continue
		}
		e.number(1)
		e.b = append(e.b, d[:]...)
	}
	if w.Limits != (key.Digest{}) {
		e.number(w.Asked)
	}
}

// listDecoder reads what an encoder wrote. After an error, every value that it returns is
// zero.
type listDecoder struct {
	b      []byte
	before string
	bad    bool
}

func (d *listDecoder) fail() {
	d.bad, d.b = true, nil
}

func (d *listDecoder) number() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *listDecoder) signed() int64 {
	v, n := binary.Varint(d.b)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *listDecoder) take(n uint64) []byte {
	if n > uint64(len(d.b)) {
		d.fail()
		return nil
	}
	b := d.b[:n]
	d.b = d.b[n:]
	return b
}

func (d *listDecoder) text() string { return string(d.take(d.number())) }

func (d *listDecoder) texts() []string {
	var all []string
	for range d.count(1) {
		all = append(all, d.text())
	}
	return all
}

// count returns the number of elements in a section, each of which takes at least size
// bytes.
func (d *listDecoder) count(size int) int {
	d.before = ""
	n := d.number()
	if n > uint64(len(d.b)/size) {
		d.fail()
		return 0
	}
	return int(n)
}

func (d *listDecoder) path() string {
	shared := d.number()
	if shared > uint64(len(d.before)) {
		d.fail()
		return ""
	}
	rest := d.take(d.number())
	d.before = d.before[:shared] + string(rest)
	return d.before
}

func (d *listDecoder) digest() (digest key.Digest) {
	copy(digest[:], d.take(uint64(len(digest))))
	return digest
}

func (d *listDecoder) stamp(s *Stamp) {
	s.Dev, s.Ino, s.Size = d.number(), d.number(), d.number()
	s.Ctime = d.signed()
	s.Mtime = s.Ctime - d.signed()
	s.Read = s.Ctime + d.signed()
	s.Mount = d.number()
}

// The smallest encodings: a path of one byte, and one byte for each number.
const (
	leastFile   = 3 + 2 + 7 + 32
	leastFolder = 3 + 1 + 7 + 1
	leastOther  = 3 + 1
	leastKind   = 3 + 2
	leastPermit = 3 + 2
)

// Parse reads what Append wrote. The Payload refers to b.
func Parse(b []byte) (*List, error) {
	if len(b) < len(listMagic) || string(b[:len(listMagic)]) != listMagic {
		return nil, errList
	}
	d := listDecoder{b: b[len(listMagic):]}
	l := &List{}
	l.Files = make([]File, d.count(leastFile))
	for i := range l.Files {
		f := &l.Files[i]
		f.Path, f.Flags, f.Mode = d.path(), FileFlags(d.number()), uint32(d.number())
		d.stamp(&f.Stamp)
		f.Digest = d.digest()
		if f.Flags&Owned != 0 {
			f.Owner = d.number()
		}
	}
	l.Folders = make([]Folder, d.count(leastFolder))
	for i := range l.Folders {
		d.folder(&l.Folders[i])
	}
	l.Links = make([]Link, d.count(leastOther))
	for i := range l.Links {
		l.Links[i] = Link{d.path(), d.text()}
	}
	l.Failures = make([]Failure, d.count(leastOther))
	for i := range l.Failures {
		l.Failures[i] = Failure{d.path(), syscall.Errno(d.number())}
	}
	l.Kinds = make([]Kind, d.count(leastKind))
	for i := range l.Kinds {
		d.kind(&l.Kinds[i])
	}
	l.Permits = make([]Permit, d.count(leastPermit))
	for i := range l.Permits {
		l.Permits[i] = Permit{d.path(), uint32(d.number()), syscall.Errno(d.number())}
	}
	d.world(&l.World)
	l.Payload = d.take(d.number())
	if d.bad || len(d.b) != 0 || !l.sound() {
		return nil, errList
	}
	return l, nil
}

func (d *listDecoder) folder(f *Folder) {
	before := ""
	f.Path, f.Flags = d.path(), FolderFlags(d.number())
	before = d.before
	d.stamp(&f.Stamp)
	f.Absent = d.texts()
	if f.Flags&Listed != 0 {
		f.Names = d.digest()
		f.Except = d.texts()
	}
	d.before = before
}

func (d *listDecoder) world(w *World) {
	w.Dir, w.Rule, w.Also = d.text(), Rule(d.number()), d.texts()
	w.Variables = make([]Variable, d.count(1+16))
	for i := range w.Variables {
		w.Variables[i].Name = d.text()
		copy(w.Variables[i].Value[:], d.take(16))
	}
	for _, digest := range []*key.Digest{&w.CPU, &w.Host, &w.Limits} {
		if d.number() != 0 {
			*digest = d.digest()
		}
	}
	if w.Limits != (key.Digest{}) {
		w.Asked = d.number()
	}
}

// sound reports whether all paths can be given to the kernel as they are: they are not
// empty, and have no NUL, which would end them early.
func (l *List) sound() bool {
	ok := soundPath
	for i := range l.Files {
		if !ok(l.Files[i].Path) {
			return false
		}
	}
	for i := range l.Folders {
		f := &l.Folders[i]
		if !ok(f.Path) || slices.ContainsFunc(f.Absent, func(n string) bool { return !ok(n) }) {
			return false
		}
	}
	for i := range l.Links {
		if !ok(l.Links[i].Path) {
			return false
		}
	}
	for i := range l.Failures {
		if !ok(l.Failures[i].Path) {
			return false
		}
	}
	for i := range l.Kinds {
		if !ok(l.Kinds[i].Path) {
			return false
		}
	}
	return !slices.ContainsFunc(l.Permits, func(p Permit) bool { return !ok(p.Path) })
}

func soundPath(p string) bool {
	return p != "" && len(p) < maxPath && !slices.Contains([]byte(p), 0)
}

// maxPath is the longest path that is kept: the kernel takes 4,096 bytes, and a
// folder may come before.
const maxPath = 8192
