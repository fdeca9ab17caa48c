// Package driver loads what was compiled, through a libcuda that may be absent.
//
//	d, err := driver.Open(locations)
//	arch, err := d.Arch()           // "sm_90"
//	m, err := d.Load(cubin, key.ID) // into the current context
//	f, err := m.Function("saxpy")   // a CUfunction
//	err = m.Release()
//
// A module is kept once per context and id: who loads it again gets the same
// one. A context is known by its id (cuCtxGetId), because the driver uses the
// pointer of a destroyed one again. Drivers before 12.0 have no ids: there each
// Load loads, and a module must be released before its context is destroyed.
//
// # Threads and contexts
//
// What is current belongs to the thread. A call that C code makes stays on its
// thread; a goroutine that calls must be locked to one (runtime.LockOSThread).
// Load loads into the context that is current and makes none: whose it would
// be, and when it would go, is for the host to say. Function and Release work in
// the module's context, whatever is current, and leave that as it was.
//
// # Which functions are called
//
// They are taken by dlsym under the names of their versions
// (cuCtxPushCurrent_v2), not by cuGetProcAddress: those names are the ABI that
// libcuda has kept since CUDA 4, and this way the version that the C code was
// written for is the one that it gets.
package driver
