// Module: code that is loaded into a context.

package driver

// #include <stdlib.h>
// #include "calls.h"
import "C"

import (
	"bytes"
	"encoding/binary"
	"unsafe"
)

// location identifies a module: its context, and its id.
type location struct {
	context C.jc_context
	id      [32]byte
}

// Module is a loaded module. It counts references: each Load that returned it needs one
// Release. Its methods may be called from any thread.
type Module struct {
	driver *Driver
	location
	refs   int           // guarded by the driver's lock
	ready  chan struct{} // closed when handle and err are set
	handle unsafe.Pointer
	err    error
}

// Load loads an image into the current context, or returns the module that was loaded
// there under the same id. The image is a cubin, a fatbin, or PTX. Different images must
// have different ids. Threads that load the same image at the same time wait for the first,
// and get its module or its error.
//
// Errors are [ErrNoContext], [ErrImage], or an [*Error] of the driver. [Refused] tells
// which of them are about the image.
func (d *Driver) Load(image []byte, id [32]byte) (*Module, error) {
	var c C.jc_context
	if err := d.failure(C.jc_driver_context(&d.calls, &c), ""); err != nil {
		return nil, err
	}
	if c.pointer == nil {
		return nil, ErrNoContext
	}
	m := &Module{driver: d, location: location{c, id}, refs: 1, ready: make(chan struct{})}
	at, share := m.locationKey()
	if share {
		d.lock.Lock()
		if other := d.modules[at]; other != nil {
			other.refs++
			d.lock.Unlock()
			return other.waitLoaded()
		}
		d.modules[at] = m
		d.lock.Unlock()
	}
	m.handle, m.err = d.loadImage(image)
	if m.err != nil {
		d.forgetModule(m)
	}
	close(m.ready)
	return m.waitLoaded()
}

// waitLoaded waits for the module, and returns it or the error of loading it.
func (m *Module) waitLoaded() (*Module, error) {
	<-m.ready
	if m.err != nil {
		return nil, m.err
	}
	return m, nil
}

// locationKey returns the module's key in the table, and whether the table may have it. It may not
// if the driver has no ids for contexts.
func (m *Module) locationKey() (at location, share bool) {
	at = m.location
	if !knownByID {
		at.context.id = 0
	}
	return at, m.driver.calls.cuCtxGetId != nil && keptOnce
}

func (d *Driver) forgetModule(m *Module) {
	d.lock.Lock()
	defer d.lock.Unlock()
	if at, _ := m.locationKey(); d.modules[at] == m {
		delete(d.modules, at)
	}
}

func (d *Driver) loadImage(image []byte) (handle unsafe.Pointer, err error) {
	image, err = whole(image)
	if err != nil {
		return nil, err
	}
	var log [2048]C.char
	f := C.jc_driver_load(&d.calls, unsafe.Pointer(&image[0]), &handle, &log[0], C.uint(len(log)))
	return handle, d.failure(f, C.GoString(&log[0]))
}

// whole checks that an image is as long as its header says, because the driver does not
// get its length. It appends the NUL that must end a text.
func whole(image []byte) ([]byte, error) {
	le := binary.LittleEndian
	end := uint64(1)
	switch {
	case bytes.HasPrefix(image, []byte("\x7fELF\x02")):
		if len(image) < 64 {
			return nil, ErrImage
		}
		for _, table := range []struct{ offset, size, count int }{{32, 54, 56}, {40, 58, 60}} {
			offset := le.Uint64(image[table.offset:])
			size := uint64(le.Uint16(image[table.size:])) * uint64(le.Uint16(image[table.count:]))
			end = max(end, offset, offset+size)
		}
	case bytes.HasPrefix(image, []byte("\x50\xed\x55\xba")): // a fatbin
		if len(image) < 16 {
			return nil, ErrImage
		}
		end = uint64(le.Uint16(image[6:])) + le.Uint64(image[8:])
	case len(image) > 0 && image[len(image)-1] != 0:
		return append(bytes.Clone(image), 0), nil
	}
	if uint64(len(image)) < end {
		return nil, ErrImage
	}
	return image, nil
}

// Handle returns the module's CUmodule. It is valid until the last Release, or until the
// context is destroyed.
func (m *Module) Handle() unsafe.Pointer { return m.handle }

// Function returns one of the module's functions, a CUfunction, which lives as long as the
// module. The error is an [*Error]: CUDA_ERROR_NOT_FOUND if the module has no function of
// that name, CUDA_ERROR_CONTEXT_IS_DESTROYED if the module's context was destroyed.
func (m *Module) Function(name string) (unsafe.Pointer, error) {
	s := C.CString(name)
	defer C.free(unsafe.Pointer(s))
	var f unsafe.Pointer
	d := m.driver
	return f, d.failure(C.jc_driver_function(&d.calls, m.context, m.handle, s, &f), name)
}

// Release gives back the reference of one Load. The last Release unloads the module. If its
// context is destroyed or the driver is shutting down, the module is gone already, and
// Release returns no error.
func (m *Module) Release() error {
	d := m.driver
	d.lock.Lock()
	m.refs--
	last := m.refs == 0
	if at, _ := m.locationKey(); last && d.modules[at] == m {
		delete(d.modules, at)
	}
	d.lock.Unlock()
	if !last {
		return nil
	}
	f := C.jc_driver_unload(&d.calls, m.context, m.handle)
	if gone[int(f.code)] {
		return nil
	}
	return d.failure(f, "")
}
