// Package memory is the in-process tier: entries that this process has read or made,
// up to a number of bytes.
//
// The table is C (memory.c), because libjitcache's front reads it without calling Go.
// This file is its interface for Go.
package memory

// #cgo CFLAGS: -std=gnu11 -O2 -Wall -D_GNU_SOURCE
// #include <stdlib.h>
// #include "memory.h"
import "C"

import (
	"sync/atomic"
	"unsafe"

	"jitcache/core/blob"
	_ "jitcache/core/mutex" // memory.c's
)

// Memory is a tier. Its methods may be called from any goroutine or thread.
type Memory C.jc_memory

// Due says what a hit asks its caller to do.
type Due int

const (
	Touch Due = C.JC_MEMORY_TOUCH // renew the recency of the entry's file
	Flush Due = C.JC_MEMORY_FLUSH // write the counters
)

// New returns a tier that keeps up to limit bytes, or nil if there is no
// memory for the tier itself.
func New(limit uint64) *Memory { return (*Memory)(C.jc_memory_new(C.uint64_t(limit))) }

// From returns the tier at a pointer that came from Pointer.
func From(p unsafe.Pointer) *Memory { return (*Memory)(p) }

// Pointer returns the tier for C to use.
func (m *Memory) Pointer() unsafe.Pointer { return unsafe.Pointer(m) }

func (m *Memory) c() *C.jc_memory { return (*C.jc_memory)(m) }

// Free drops everything. Nobody else may use the tier at the same time.
func (m *Memory) Free() { C.jc_memory_free(m.c()) }

// Get returns the blob under id with a reference for the caller, or nil.
func (m *Memory) Get(id *[32]byte) (*blob.Blob, Due) {
	var due C.int
	b := C.jc_memory_get(m.c(), (*C.uint8_t)(unsafe.Pointer(id)), &due)
	return blob.From(unsafe.Pointer(b)), Due(due)
}

// Put keeps b under its own ID, unless it alone is larger than the tier. It is for a
// tier without a directory behind it; see Keep and Begin.
func (m *Memory) Put(b *blob.Blob) { C.jc_memory_put(m.c(), (*C.jc_blob)(b.Pointer())) }

// Remove drops an entry and reports whether there was one.
func (m *Memory) Remove(id *[32]byte) bool {
	return C.jc_memory_remove(m.c(), (*C.uint8_t)(unsafe.Pointer(id))) != 0
}

// Clear drops the entries of a kind, all of them if kind is "".
func (m *Memory) Clear(kind string) {
	if kind == "" {
		C.jc_memory_clear(m.c(), nil)
		return
	}
	s := C.CString(kind)
	defer C.free(unsafe.Pointer(s))
	C.jc_memory_clear(m.c(), s)
}

// Ticket identifies the changes of a key that were made before it was taken.
type Ticket uint64

// Ticket returns a ticket for a key. Take it before the directory is read, see Keep.
// memory.h explains the order of memory and directory.
func (m *Memory) Ticket(id *[32]byte) Ticket {
	words := (*[C.JC_MEMORY_WORDS]atomic.Uint64)(unsafe.Pointer(m))
	return Ticket(words[(uint(id[0])|uint(id[1])<<8)%C.JC_MEMORY_WORDS].Load()) // jc_memory_word
}

// Keep keeps b, which was read from the directory after the ticket was taken, unless
// its key has changed since.
func (m *Memory) Keep(b *blob.Blob, t Ticket) {
	C.jc_memory_keep(m.c(), (*C.jc_blob)(b.Pointer()), C.uint64_t(t))
}

// Change is an ongoing change of one entry in the directory.
type Change struct {
	m  *Memory
	id *[32]byte
	c  C.jc_memory_change
}

// Begin is called before an entry is put, replaced or removed. old says that this makes
// the present entry out of date. End must follow. dropped says that the tier had that
// entry, and has dropped it.
func (m *Memory) Begin(id *[32]byte, old bool) (c Change, dropped bool) {
	flag := C.int(0)
	if old {
		flag = 1
	}
	c = Change{m, id, C.jc_memory_begin(m.c(), (*C.uint8_t)(unsafe.Pointer(id)), flag)}
	return c, c.c.dropped != 0
}

// End is called after the change. If b is not nil, the tier keeps it: it must be the entry
// that the directory has now, unless the directory has none. changed says whether the
// directory has changed.
func (c *Change) End(changed bool, b *blob.Blob) {
	flag := C.int(0)
	if changed {
		flag = 1
	}
	var raw *C.jc_blob
	if b != nil {
		raw = (*C.jc_blob)(b.Pointer())
	}
	C.jc_memory_end(c.m.c(), (*C.uint8_t)(unsafe.Pointer(c.id)), c.c, flag, raw)
}

// BeginClear is Begin for all entries of a kind, or for all entries if kind is "".
// EndClear must follow.
func (m *Memory) BeginClear(kind string) {
	if kind == "" {
		C.jc_memory_begin_clear(m.c(), nil)
		return
	}
	s := C.CString(kind)
	defer C.free(unsafe.Pointer(s))
	C.jc_memory_begin_clear(m.c(), s)
}

// EndClear is called after they have been removed.
func (m *Memory) EndClear() { C.jc_memory_end_clear(m.c()) }

func (m *Memory) epoch() uint64 {
	return (*atomic.Uint64)(unsafe.Pointer(C.jc_memory_epoch(m.c()))).Load()
}

// Size returns how much is kept.
func (m *Memory) Size() (bytes, count uint64) {
	var b, n C.uint64_t
	C.jc_memory_size(m.c(), &b, &n)
	return uint64(b), uint64(n)
}

// Hits is a number of hits on entries of one kind.
type Hits struct {
	Kind  string
	Hits  uint64
	Saved uint64 // nanoseconds of compiling
}

// Drain returns the hits since the last Drain, by kind.
func (m *Memory) Drain() []Hits {
	var raw [C.JC_MEMORY_KINDS]C.jc_memory_hits
	n := int(C.jc_memory_drain(m.c(), &raw[0]))
	hits := make([]Hits, n)
	for i := range hits {
		hits[i] = Hits{C.GoString(&raw[i].kind[0]), uint64(raw[i].hits), uint64(raw[i].saved)}
	}
	return hits
}
