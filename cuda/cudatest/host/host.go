// Contexts of the real or the fake driver, for tests.

package host

// #include <stdint.h>
// static int make(void *f, void **out, int device) { return ((int (*)(void **, unsigned, int))f)(out, 0, device); }
// static int retain(void *f, void **out, int device) { return ((int (*)(void **, int))f)(out, device); }
// static int with(void *f, void *context) { return ((int (*)(void *))f)(context); }
// static int on(void *f, int device) { return ((int (*)(int))f)(device); }
// static int get(void *f, void **out) { return ((int (*)(void **))f)(out); }
import "C"

import (
	"fmt"
	"unsafe"
)

// Symbols is an opened libcuda, a *dl.Library.
type Symbols interface {
	Symbol(name string) unsafe.Pointer
}

// Host makes contexts. Its methods panic if the driver fails, and work on the
// thread that they are called on.
type Host struct{ Symbols }

func (h Host) symbol(name string) unsafe.Pointer {
	f := h.Symbol(name)
	if f == nil {
		panic(name + " is missing")
	}
	return f
}

func check(name string, code C.int) {
	if code != 0 {
		panic(fmt.Sprintf("%s: %d", name, code))
	}
}

// Create makes a context on a device and makes it current.
func (h Host) Create(device int) unsafe.Pointer {
	var c unsafe.Pointer
	check("cuCtxCreate", C.make(h.symbol("cuCtxCreate_v2"), &c, C.int(device)))
	return c
}

// Destroy destroys a context.
func (h Host) Destroy(c unsafe.Pointer) {
	check("cuCtxDestroy", C.with(h.symbol("cuCtxDestroy_v2"), c))
}

// SetCurrent makes a context the only one that is current, or none if nil.
func (h Host) SetCurrent(c unsafe.Pointer) {
	set := h.symbol("cuCtxSetCurrent")
	for h.Current() != nil {
		check("cuCtxSetCurrent", C.with(set, nil))
	}
	check("cuCtxSetCurrent", C.with(set, c))
}

// Current returns the current context, nil if there is none.
func (h Host) Current() unsafe.Pointer {
	var c unsafe.Pointer
	check("cuCtxGetCurrent", C.get(h.symbol("cuCtxGetCurrent"), &c))
	return c
}

// Primary returns a device's primary context, as the CUDA runtime does.
func (h Host) Primary(device int) unsafe.Pointer {
	var c unsafe.Pointer
	check("cuDevicePrimaryCtxRetain", C.retain(h.symbol("cuDevicePrimaryCtxRetain"), &c, C.int(device)))
	return c
}

// Reset destroys a device's primary context, as cudaDeviceReset does.
func (h Host) Reset(device int) {
	check("cuDevicePrimaryCtxReset", C.on(h.symbol("cuDevicePrimaryCtxReset_v2"), C.int(device)))
}
