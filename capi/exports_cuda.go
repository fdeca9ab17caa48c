package main

// #include "core.h"
import "C"

import (
	"unsafe"

	"jitcache/core"
	"jitcache/core/blob"
	"jitcache/core/key"
	"jitcache/core/manifest"
	"jitcache/core/store"
	"jitcache/cuda"
)

// The statuses of what can go wrong with a request.
var cudaStatuses = map[cuda.Fault]C.int32_t{
	cuda.BadRequest:     C.JITCACHE_ERR_ARGUMENT,
	cuda.DoesNotCompile: C.JITCACHE_ERR_COMPILE,
	cuda.CannotBeKeyed:  C.JITCACHE_ERR_REFUSED,
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

// manifestsOf returns the cache that keeps manifests, nil for none.
func manifestsOf(p unsafe.Pointer) manifest.Cache {
	if p == nil {
		return nil
	}
	return cacheOf(p)
}

//export jcgo_cuda_lookup
func jcgo_cuda_lookup(p unsafe.Pointer, parts *C.jc_parts, want C.int32_t, out **C.jc_blob, sealed **C.uint8_t, n *C.size_t, o *C.jc_out) C.int32_t {
	return guard(o, func() C.int32_t {
		if want != 0 && isOff(p) {
			return because(o, C.JITCACHE_MISS, store.Off)
		}
		k, err := requestOf(parts).Key(manifestsOf(p))
		if err != nil {
			return cudaFail(o, err)
		}
		return find(p, k, want != 0, out, sealed, n, o)
	})
}

// isOff reports that nothing is looked up or stored, so that nothing need be keyed.
func isOff(p unsafe.Pointer) bool { return p != nil && cacheOf(p).Mode() == core.ModeOff }

// find gives the blob under a key, if it is wanted and there, else the key.
func find(p unsafe.Pointer, k *key.Key, want bool, out **C.jc_blob, sealed **C.uint8_t, n *C.size_t, o *C.jc_out) C.int32_t {
	status := C.int32_t(C.JITCACHE_OK)
	if want {
		b, why := cacheOf(p).Peek(&k.ID)
		if why == store.None {
			*out = (*C.jc_blob)(b.Pointer())
			return status
		}
		status = because(o, C.JITCACHE_MISS, why)
	}
	*sealed, *n = toC(k.Append(nil))
	return status
}

//export jcgo_cuda_run
func jcgo_cuda_run(parts *C.jc_parts, id *C.uint8_t, out **C.jc_blob, stale *C.int32_t, log **C.char, o *C.jc_out) C.int32_t {
	return guard(o, func() C.int32_t {
		b, moved, err := requestOf(parts).Compile((*key.ID)(unsafe.Pointer(id)))
		if err != nil {
			*log = C.CString(cuda.LogOf(err))
			return cudaFail(o, err)
		}
		*out = (*C.jc_blob)(b.Pointer())
		if moved {
			*stale = 1
		}
		return C.JITCACHE_OK
	})
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
		// What the driver says of it helps nobody: the handle is gone either way.
		moduleOf(p).Release()
		forget(p)
		return C.JITCACHE_OK
	})
}

//export jcgo_cuda_function
func jcgo_cuda_function(p unsafe.Pointer, name *C.char, function *unsafe.Pointer, o *C.jc_out) C.int32_t {
	return guard(o, func() C.int32_t {
		f, err := moduleOf(p).Function(text(name))
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
		about := cuda.ParseAttributes(text(attributes))
		found := about.Log
		if expression != nil {
			var ok bool
			if found, ok = about.Lowered[text(expression)]; !ok {
				return because(o, C.JITCACHE_MISS, store.Absent)
			}
		}
		*out = C.CString(found)
		return C.JITCACHE_OK
	})
}
