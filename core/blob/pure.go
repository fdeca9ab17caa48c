//go:build !cgo

// The launcher is built without C, because a program that links C takes twice as long to
// start. It has no host to which it passes blobs, so they may be in Go memory.

package blob

import (
	"errors"
	"sync/atomic"
	"unsafe"
)

// Align is the alignment of every payload.
const Align = 64

// Blob is one entry's bytes. The functions that return one say who owns the reference;
// the owner calls Release once for each.
type Blob struct {
	refs             atomic.Int64
	data             *byte
	size, capacity   int
	attributes, name string
	kind             [17]byte
	id               [32]byte
	created, cost    int64
	dev, ino         uint64
}

var live atomic.Int64

// ErrNoMemory is returned when there is no room for a blob.
var ErrNoMemory = errors.New("no memory")

// New returns a blob with room for capacity bytes. The caller owns it and may
// write to it until it shares it.
func New(capacity int) (*Blob, error) {
	if capacity < 0 || capacity > 1<<40 {
		return nil, ErrNoMemory
	}
	all := make([]byte, capacity+Align+1)
	at := -int(uintptr(unsafe.Pointer(&all[0]))) & (Align - 1)
	b := &Blob{data: &all[at], capacity: capacity}
	b.refs.Store(1)
	live.Add(1)
	return b, nil
}

// Retain adds a reference and returns b.
func (b *Blob) Retain() *Blob {
	b.refs.Add(1)
	return b
}

// Release drops a reference. The bytes must not be used after the last one.
func (b *Blob) Release() {
	if b.refs.Add(-1) == 0 {
		live.Add(-1)
	}
}

// Buffer returns all bytes that the blob has room for.
func (b *Blob) Buffer() []byte { return unsafe.Slice(b.data, b.capacity) }

// Data returns the payload. It is valid until the blob is released, must not be
// written to, and is followed by a NUL that is not counted.
func (b *Blob) Data() []byte { return unsafe.Slice(b.data, b.size) }

// Capacity returns how many bytes the blob holds, payload and the rest.
func (b *Blob) Capacity() int { return b.capacity }

// SetSize says how many of the bytes are the payload.
func (b *Blob) SetSize(n int) {
	if n < 0 || n > b.capacity {
		panic("blob: size beyond its capacity")
	}
	b.size = n
}

// SetTexts says where in Buffer the attributes and the name are: offsets of
// texts that end in a NUL, or a negative number for none.
func (b *Blob) SetTexts(attributes, name int) {
	text := func(at int) string {
		end := at
		for all := b.Buffer(); end < len(all) && all[end] != 0; end++ {
		}
		return string(b.Buffer()[at:end])
	}
	if attributes >= 0 {
		b.attributes = text(attributes)
	}
	if name >= 0 {
		b.name = text(name)
	}
}

// Attributes returns the caller's JSON text, "" if there is none.
func (b *Blob) Attributes() string { return b.attributes }

// Name returns what the user calls the entry, "" if there is none.
func (b *Blob) Name() string { return b.name }

// Kind returns the entry's kind.
func (b *Blob) Kind() string { return string(b.KindBytes()) }

// KindBytes returns the entry's kind, valid until the blob is released.
func (b *Blob) KindBytes() []byte {
	n := 0
	for n < len(b.kind) && b.kind[n] != 0 {
		n++
	}
	return b.kind[:n:n]
}

// ID returns the key that the entry is stored under.
func (b *Blob) ID() [32]byte { return b.id }

// Created returns when the entry was made, in nanoseconds since 1970, and how
// long its compile took, 0 if that is unknown.
func (b *Blob) Created() (at, cost int64) { return b.created, b.cost }

// SetEntry says which entry the bytes are. Kind is at most 16 bytes.
func (b *Blob) SetEntry(id *[32]byte, kind []byte, created, cost int64) {
	b.id = *id
	n := copy(b.kind[:len(b.kind)-1], kind)
	b.kind[n] = 0
	b.created, b.cost = created, cost
}

// SetFile says which file has these bytes, so that a path to the file can be made
// later. Inode 0 is no file.
func (b *Blob) SetFile(dev, ino uint64) { b.dev, b.ino = dev, ino }

// File returns what SetFile has set.
func (b *Blob) File() (dev, ino uint64) { return b.dev, b.ino }

// Live returns how many blobs the process has.
func Live() int { return int(live.Load()) }
