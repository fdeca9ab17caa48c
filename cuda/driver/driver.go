// Driver: opening libcuda, and the architecture of a device.

package driver

// #cgo CFLAGS: -std=gnu11 -O2 -Wall
// #include "calls.h"
import "C"

import (
	"fmt"
	"sync"
	"unsafe"

	"jitcache/cuda/dl"
)

// Driver is an opened driver. There is one per library in a process, and it is
// never closed. Its methods may be called from any thread.
type Driver struct {
	calls C.jc_driver // function pointers; written once

	lock    sync.Mutex           // guards what follows
	archs   map[ordinal]string   // the architectures of devices
	modules map[location]*Module // the modules that are loaded
}

// ordinal is a device's number.
type ordinal int

// drivers are the open drivers of this process, by path.
var drivers struct {
	sync.Mutex
	open map[string]*Driver
}

// Open opens the driver and starts it (cuInit). Once it is open, a call only checks that it
// is still the one to use. The error is a [*NoDriver], or an [*Error] of cuInit.
func Open(p dl.Locations) (*Driver, error) {
	file, err := dl.Find(dl.CUDA, p)
	if err != nil {
		return nil, &NoDriver{err}
	}
	drivers.Lock()
	d := drivers.open[file.Path]
	drivers.Unlock()
	if d != nil {
		return d, nil
	}
	if d, err = startDriver(file); err != nil {
		return nil, err
	}
	drivers.Lock()
	defer drivers.Unlock()
	if other := drivers.open[file.Path]; other != nil { // another thread was first
		return other, nil
	}
	if drivers.open == nil {
		drivers.open = map[string]*Driver{}
	}
	drivers.open[file.Path] = d
	return d, nil
}

func startDriver(file dl.File) (*Driver, error) {
	library, err := file.Open()
	if err != nil {
		return nil, &NoDriver{err}
	}
	var names [C.JC_DRIVER_COUNT]string
	for i := range names {
		names[i] = C.GoString(C.jc_driver_names[i])
	}
	found, err := library.Symbols(names[:]...)
	if err != nil {
		return nil, &NoDriver{err}
	}
	d := &Driver{archs: map[ordinal]string{}, modules: map[location]*Module{}}
	copy(unsafe.Slice((*unsafe.Pointer)(unsafe.Pointer(&d.calls)), len(found)), found)
	if err := d.failure(C.jc_driver_init(&d.calls), ""); err != nil {
		return nil, err
	}
	return d, nil
}

// Arch returns the architecture to compile for, as "sm_90": the compute capability of the
// current context's device, or of the first device if no context is current. The error is
// an [*Error].
func (d *Driver) Arch() (string, error) {
	var device, major, minor C.int
	if err := d.failure(C.jc_driver_device(&d.calls, &device), ""); err != nil {
		return "", err
	}
	d.lock.Lock()
	arch := d.archs[ordinal(device)]
	d.lock.Unlock()
	if arch != "" {
		return arch, nil
	}
	if err := d.failure(C.jc_driver_capability(&d.calls, device, &major, &minor), ""); err != nil {
		return "", err
	}
	arch = fmt.Sprintf("sm_%d%d", major, minor)
	d.lock.Lock()
	d.archs[ordinal(device)] = arch
	d.lock.Unlock()
	return arch, nil
}
