// Package memory is the in-process tier: entries that this process has already
// read or made, kept up to a number of bytes.
//
// The table is C (memory.c), because libjitcache's front reads it without
// calling Go; this file is its Go face.
package memory

// #cgo CFLAGS: -std=gnu11 -O2 -Wall -D_GNU_SOURCE
// #include <stdlib.h>
// #include "memory.h"
import "C"

import (
	"unsafe"

	"jitcache/core/blob"
	_ "jitcache/core/mutex" // memory.c's
)

// Memory is a tier. Its methods may be called from any goroutine or thread.
type Memory C.jc_memory

// Due says what a hit asks of the caller that got it.
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

// Free drops everything. Nobody else may be using the tier.
func (m *Memory) Free() { C.jc_memory_free(m.c()) }

// Get returns the blob under id with a reference for the caller, or nil.
func (m *Memory) Get(id *[32]byte) (*blob.Blob, Due) {
	var due C.int
	b := C.jc_memory_get(m.c(), (*C.uint8_t)(unsafe.Pointer(id)), &due)
	return blob.From(unsafe.Pointer(b)), Due(due)
}

// Put keeps b under its own ID, unless it alone is larger than the tier.
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
