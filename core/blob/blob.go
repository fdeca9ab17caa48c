// Package blob holds the bytes of entries in C memory: counted, immutable, and
// usable by a host without copying.
//
// They are in C memory for two reasons. A host may keep a blob for as long as it likes,
// in any thread, and across fork. And the garbage collector does not see hundreds of
// megabytes of cubins.
package blob

// #cgo CFLAGS: -std=gnu11 -O2 -Wall
// #include "blob.h"
import "C"

import (
	"errors"
	"unsafe"
)

// Align is the alignment of every payload.
const Align = C.JC_BLOB_ALIGN

// Blob is one entry's bytes. It is a C struct: a *Blob may be passed to C as it is,
// and never points to Go memory. The functions that return one say who owns the
// reference; the owner calls Release once for each.
type Blob C.jc_blob

// ErrNoMemory is returned when the allocator has no room for a blob.
var ErrNoMemory = errors.New("no memory")

// New returns a blob with room for capacity bytes. The caller owns it and may
// write to it until it shares it.
func New(capacity int) (*Blob, error) {
	b := C.jc_blob_new(C.size_t(capacity))
	if b == nil {
		return nil, ErrNoMemory
	}
	return (*Blob)(b), nil
}

// From returns the blob at a pointer that came from Pointer.
func From(p unsafe.Pointer) *Blob { return (*Blob)(p) }

// Pointer returns the blob for C to keep; the reference goes with it.
func (b *Blob) Pointer() unsafe.Pointer { return unsafe.Pointer(b) }

// Retain adds a reference and returns b.
func (b *Blob) Retain() *Blob {
	C.jc_blob_retain((*C.jc_blob)(b))
	return b
}

// Release drops a reference. The bytes must not be used after the last one.
func (b *Blob) Release() { C.jc_blob_release((*C.jc_blob)(b)) }

// Buffer returns all bytes that the blob has room for.
func (b *Blob) Buffer() []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(b.data)), int(b.capacity))
}

// Data returns the payload. It is valid until the blob is released, must not be
// written to, and is followed by a NUL that is not part of it.
func (b *Blob) Data() []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(b.data)), int(b.size))
}

// Capacity returns how many bytes the blob holds, payload and the rest.
func (b *Blob) Capacity() int { return int(b.capacity) }

// SetSize says how many of the bytes are the payload.
func (b *Blob) SetSize(n int) {
	if n < 0 || n > int(b.capacity) {
		panic("blob: size beyond its capacity")
	}
	b.size = C.size_t(n)
}

// SetTexts says where in Buffer the attributes and the name are: offsets of
// texts that end in a NUL, or a negative number for none.
func (b *Blob) SetTexts(attributes, name int) {
	if attributes >= 0 {
		b.attributes = (*C.char)(unsafe.Pointer(&b.Buffer()[attributes]))
	}
	if name >= 0 {
		b.name = (*C.char)(unsafe.Pointer(&b.Buffer()[name]))
	}
}

// Attributes returns the caller's JSON text, "" if there is none.
func (b *Blob) Attributes() string { return C.GoString(b.attributes) }

// Name returns what the user calls the entry, "" if there is none.
func (b *Blob) Name() string { return C.GoString(b.name) }

// Kind returns the entry's kind.
func (b *Blob) Kind() string { return C.GoString(&b.kind[0]) }

// KindBytes returns the entry's kind, valid until the blob is released.
func (b *Blob) KindBytes() []byte {
	p := (*[len(b.kind)]byte)(unsafe.Pointer(&b.kind))
	n := 0
	for n < len(p) && p[n] != 0 {
		n++
	}
	return p[:n:n]
}

// ID returns the key that the entry is stored under.
func (b *Blob) ID() [32]byte { return *(*[32]byte)(unsafe.Pointer(&b.id)) }

// Created returns when the entry was made, in nanoseconds since 1970, and how
// long its compile took, 0 if that is unknown.
func (b *Blob) Created() (at, cost int64) { return int64(b.created), int64(b.cost) }

// SetEntry says which entry the bytes are. Kind is at most 16 bytes.
func (b *Blob) SetEntry(id *[32]byte, kind []byte, created, cost int64) {
	*(*[32]byte)(unsafe.Pointer(&b.id)) = *id
	n := copy(unsafe.Slice((*byte)(unsafe.Pointer(&b.kind[0])), len(b.kind)-1), kind)
	b.kind[n] = 0
	b.created, b.cost = C.int64_t(created), C.int64_t(cost)
}

// SetFile says which file has these bytes, so that a path to the file can be made
// later. Inode 0 is no file.
func (b *Blob) SetFile(dev, ino uint64) { b.dev, b.ino = C.uint64_t(dev), C.uint64_t(ino) }

// File returns what SetFile has set.
func (b *Blob) File() (dev, ino uint64) { return uint64(b.dev), uint64(b.ino) }

// Live returns how many blobs the process has.
func Live() int { return int(C.jc_blob_live()) }
