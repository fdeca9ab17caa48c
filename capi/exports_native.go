package main

// #include "core.h"
import "C"

import (
	"errors"
	"strings"
	"unsafe"

	"jitcache/core/key"
	"jitcache/core/request"
	"jitcache/core/store"
	"jitcache/native"
)

func nativeFail(out *C.jc_out, err error) C.int32_t {
	var refused *request.Refused
	var failed *native.Failed
	switch {
	case errors.As(err, &refused):
		return fail(out, C.JITCACHE_ERR_REFUSED, err)
	case errors.As(err, &failed):
		return fail(out, C.JITCACHE_ERR_COMPILE, err)
	}
	return fail(out, C.JITCACHE_ERR_ARGUMENT, err)
}

func nativeRequest(p *C.jc_parts) *native.Request {
	digests := (*[2]key.Digest)(unsafe.Pointer(p.digests))
	return &native.Request{Parts: bytesOf(p.packed, p.npacked), Digest: digests[1]}
}

//export jcgo_native_lookup
func jcgo_native_lookup(p unsafe.Pointer, parts *C.jc_parts, want C.int32_t, out **C.jc_blob, sealed **C.uint8_t, n *C.size_t, question **C.char, nquestion *C.size_t, o *C.jc_out) C.int32_t {
	return guard(o, func() C.int32_t {
		if want != 0 && isOff(p) {
			return because(o, C.JITCACHE_MISS, store.Off)
		}
		k, q, err := nativeRequest(parts).Key(manifestsOf(p))
		if err != nil {
			return nativeFail(o, err)
		}
		if q != nil {
			text := q.About + "\x00" + strings.Join(q.Args, "\x00") + "\x00"
			bytes, size := toC([]byte(text))
			*question, *nquestion = (*C.char)(unsafe.Pointer(bytes)), size
			return C.JITCACHE_OK
		}
		return find(p, k, want != 0, out, sealed, n, o)
	})
}

//export jcgo_native_answer
func jcgo_native_answer(p unsafe.Pointer, parts *C.jc_parts, about *C.char, answer *C.jc_answer, log **C.char, o *C.jc_out) C.int32_t {
	return guard(o, func() C.int32_t {
		q := &native.Question{About: text(about)}
		err := nativeRequest(parts).Answer(q, int(answer.status), bytesOf(answer.out.data, answer.out.size), bytesOf(answer.log.data, answer.log.size), manifestsOf(p))
		if err == nil {
			return C.JITCACHE_OK
		}
		var failed *native.Failed
		if errors.As(err, &failed) {
			*log = C.CString(failed.Log)
		}
		return nativeFail(o, err)
	})
}
