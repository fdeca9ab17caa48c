// Go objects that the front holds as pointers.

package main

import "C"

import (
	"sync"
	"unsafe"

	"github.com/mattn/go-pointer"

	"jitcache/core"
)

// Go objects that C keeps: caches, leases, modules, jobs. Only this file knows
// go-pointer. A pointer of it is an address that malloc may return again, and that
// must not be freed twice. C holds each behind a handle (handles.c), which ends once,
// so that no pointer is used after its end.

// caches are the caches by pointer, beside go-pointer's own table. A cache is looked
// up at every call, and that table has a lock that many threads would wait for.
var caches sync.Map

func keepCache(c *core.Cache) unsafe.Pointer {
	p := pointer.Save(c)
	caches.Store(p, c)
	return p
}

func cacheOf(p unsafe.Pointer) *core.Cache {
	c, _ := caches.Load(p)
	return c.(*core.Cache)
}

func forgetObject(p unsafe.Pointer) {
	caches.Delete(p)
	pointer.Unref(p)
}

func keepLease(l *core.Lease) unsafe.Pointer { return pointer.Save(l) }

func leaseOf(p unsafe.Pointer) *core.Lease { return pointer.Restore(p).(*core.Lease) }

// keepObject keeps a module or a job, whose files know its type.
func keepObject(o any) unsafe.Pointer { return pointer.Save(o) }

func objectOf(p unsafe.Pointer) any { return pointer.Restore(p) }
