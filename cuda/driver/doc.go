// Package driver loads compiled code, through a libcuda that may be absent.
//
//	d, err := driver.Open(locations)
//	arch, err := d.Arch()           // "sm_90"
//	m, err := d.Load(cubin, key.ID) // into the current context
//	f, err := m.Function("saxpy")   // a CUfunction
//	err = m.Release()
//
// A module is loaded once per context and id: another Load gets the same module. Contexts
// are told apart by their ids (cuCtxGetId), because the driver reuses the pointers of
// destroyed ones. Drivers before 12.0 have no ids: there each Load loads a new module, and
// a module must be released before its context is destroyed.
//
// # Threads and contexts
//
// The current context belongs to the thread. A call from C code stays on its thread; a
// goroutine that calls must be locked to one (runtime.LockOSThread). Load loads into the
// current context and makes none: the host decides who owns a context, and how long it
// lives. Function and Release work in the module's context, whatever is current, and
// restore the current context.
//
// # Which functions are called
//
// They are found by dlsym under their versioned names (cuCtxPushCurrent_v2), not by
// cuGetProcAddress. These names are the ABI that libcuda has kept since CUDA 4, and so the
// C code gets the versions that it was written for.
package driver
