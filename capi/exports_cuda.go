// What the front calls for CUDA.

package main

// #include "core.h"
import "C"

import (
	"errors"
	"unsafe"

	"jitcache/command"
	"jitcache/core"
	"jitcache/core/blob"
	"jitcache/core/key"
	"jitcache/core/store"
	"jitcache/cuda"
)

func keepModule(m *cuda.Module) unsafe.Pointer { return keepObject(m) }

func moduleOf(p unsafe.Pointer) *cuda.Module { return objectOf(p).(*cuda.Module) }

// cudaStatuses has the status for each way in which a request can fail.
var cudaStatuses = map[cuda.Fault]C.int32_t{
	cuda.BadRequest:     C.JITCACHE_ERR_ARGUMENT,
	cuda.DoesNotCompile: C.JITCACHE_ERR_COMPILE,
	cuda.NoLibrary:      C.JITCACHE_ERR_LIBRARY,
	cuda.DriverFailed:   C.JITCACHE_ERR_DRIVER,
	cuda.NoMemory:       C.JITCACHE_ERR_MEMORY,
}

func cudaFail(out *C.jc_out, err error) C.int32_t {
	return fail(out, cudaStatuses[cuda.FaultOf(err)], err)
}

func requestOf(p *C.jc_parts) *cuda.Request {
	digests := (*[2]key.Digest)(unsafe.Pointer(p.digests))
	return &cuda.Request{
		Source: bytesOf(p.source, p.nsource), SourceDigest: digests[0],
		Parts: bytesOf(p.packed, p.npacked), PartsDigest: digests[1],
	}
}

//export jcgo_leave_process
func jcgo_leave_process() C.int32_t {
	return guard(nil, func() C.int32_t {
		cuda.EndIdleWorkers()
		return C.JITCACHE_OK
	})
}

//export jcgo_cuda_lookup
func jcgo_cuda_lookup(p unsafe.Pointer, parts *C.jc_parts, env *C.uint8_t, nenv C.size_t, want C.int32_t, out **C.jc_blob, sealed **C.uint8_t, n *C.size_t, o *C.jc_out) C.int32_t {
	return guard(o, func() C.int32_t {
		if want != 0 && isOff(p) {
			return because(o, C.JITCACHE_MISS, store.Off)
		}
		var c *core.Cache
		if p != nil {
			c = cacheOf(p)
		}
		r, environment := requestOf(parts), bytesOf(env, nenv)
		if want == 0 {
			k, err := r.Key(c, environment)
			if err != nil {
				return cudaFail(o, err)
			}
			*sealed, *n = toC(k.Append(nil))
			return C.JITCACHE_OK
		}
		b, k, err := r.Lookup(c, environment)
		switch {
		case err != nil:
			return cudaFail(o, err)
		case b != nil:
			*out = (*C.jc_blob)(b.Pointer())
			return C.JITCACHE_OK
		}
		*sealed, *n = toC(k.Append(nil))
		return because(o, C.JITCACHE_MISS, store.Absent)
	})
}

// isOff reports whether nothing is looked up or stored, so that no key is needed.
func isOff(p unsafe.Pointer) bool { return p != nil && cacheOf(p).Mode() == core.ModeOff }

//export jcgo_cuda_start
func jcgo_cuda_start(p unsafe.Pointer, parts *C.jc_parts, env *C.uint8_t, nenv C.size_t, timeout C.int64_t, flags C.int32_t, lease unsafe.Pointer, begun *unsafe.Pointer, o *C.jc_out) C.int32_t {
	return guard(o, func() C.int32_t {
		want := command.Want{Timeout: milliseconds(timeout), Holding: flags&C.JC_HOLDING != 0}
		if lease != nil {
			want.Lease = leaseOf(lease)
			forgetObject(lease)
		}
		var c *core.Cache
		if p != nil {
			c = cacheOf(p)
		}
		j, err := requestOf(parts).Job(c, bytesOf(env, nenv), want)
		if err != nil {
			if want.Lease != nil {
				want.Lease.Release()
			}
			return cudaFail(o, err)
		}
		*begun = keepJob(&job{j, cudaStatus})
		return C.JITCACHE_OK
	})
}

// cudaStatus returns the status of a job that is done.
func cudaStatus(j *command.Job, r *command.Result, err error, log **C.char, o *C.jc_out) C.int32_t {
	switch {
	case err != nil:
		*log = C.CString(cuda.LogOf(err))
		return cudaFail(o, err)
	case !r.Kept && j.Keeps():
		o.reason = C.int32_t(r.Reason)
		return fail(o, C.JITCACHE_NOT_STORED, errors.New(r.Why))
	}
	return C.JITCACHE_OK
}

//export jcgo_cuda_load
func jcgo_cuda_load(parts *C.jc_parts, b *C.jc_blob, module, handle *unsafe.Pointer, refused *C.int32_t, o *C.jc_out) C.int32_t {
	return guard(o, func() C.int32_t {
		m, err := requestOf(parts).Load(blob.From(unsafe.Pointer(b)))
		if err != nil {
			if cuda.IsRefused(err) {
				*refused = 1
			}
			return cudaFail(o, err)
		}
		*module, *handle = keepModule(m), m.Handle()
		return C.JITCACHE_OK
	})
}

//export jcgo_cuda_unload
func jcgo_cuda_unload(p unsafe.Pointer) C.int32_t {
	return guard(nil, func() C.int32_t {
		// The driver's error is ignored: the handle is gone either way.
		moduleOf(p).Release()
		forgetObject(p)
		return C.JITCACHE_OK
	})
}

//export jcgo_cuda_function
func jcgo_cuda_function(p unsafe.Pointer, name *C.char, function *unsafe.Pointer, o *C.jc_out) C.int32_t {
	return guard(o, func() C.int32_t {
		f, err := moduleOf(p).Function(goText(name))
		if err != nil {
			return cudaFail(o, err)
		}
		*function = f
		return C.JITCACHE_OK
	})
}

//export jcgo_cuda_text
func jcgo_cuda_text(attributes, expression *C.char, out **C.char, o *C.jc_out) C.int32_t {
	return guard(o, func() C.int32_t {
		about := cuda.ParseAttributes(goText(attributes))
		found := about.Log
		if expression != nil {
			var ok bool
			if found, ok = about.Lowered[goText(expression)]; !ok {
				return because(o, C.JITCACHE_MISS, store.Absent)
			}
		}
		*out = C.CString(found)
		return C.JITCACHE_OK
	})
}
