package main

// #include <stdlib.h>
import "C"

import (
	"sync"
	"unsafe"

	"jitcache/core"
	"jitcache/cuda"
)

// Go objects that C keeps: caches, leases, modules. C gets the address of a byte of
// its own, under which the object stands here: the collector knows no other way to
// hold an object for C, and C could not hold a Go pointer. malloc may hand such an
// address out again, and it must not be given back twice; neither can happen here,
// because C holds each behind a handle of its own (handles.c), which ends once.
//
// A sync.Map, because it is read at every call and without a lock.
var objects sync.Map

func keep(object any) unsafe.Pointer {
	p := C.malloc(1)
	objects.Store(p, object)
	return p
}

func objectAt(p unsafe.Pointer) any {
	object, _ := objects.Load(p)
	return object
}

func forget(p unsafe.Pointer) {
	objects.Delete(p)
	C.free(p)
}

func keepCache(c *core.Cache) unsafe.Pointer { return keep(c) }

func cacheOf(p unsafe.Pointer) *core.Cache { return objectAt(p).(*core.Cache) }

func keepLease(l *core.Lease) unsafe.Pointer { return keep(l) }

func leaseOf(p unsafe.Pointer) *core.Lease { return objectAt(p).(*core.Lease) }

func keepModule(m *cuda.Module) unsafe.Pointer { return keep(m) }

func moduleOf(p unsafe.Pointer) *cuda.Module { return objectAt(p).(*cuda.Module) }
