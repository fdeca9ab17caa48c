// Keeps panics inside the library, and turns errors into statuses.

package main

// #include "core.h"
// #include "../core/lockfile/held.h"
//
// static void stop_front(jc_front *front) { front->stopped = 1; }
import "C"

import (
	"fmt"
	"runtime/debug"
	"sync/atomic"

	"jitcache/core/store"
)

// poisoned is set by the first panic. After it the state cannot be trusted, and
// locks may be held. So every later call returns an error at once, and the host
// goes on without a cache. Lock files are given up: nobody must wait for a process
// that will not finish.
var poisoned atomic.Pointer[string]

// guard runs the body of an export. No panic leaves it.
func guard(out *C.jc_out, body func() C.int32_t) (status C.int32_t) {
	if why := poisoned.Load(); why != nil {
		return internal(out, *why)
	}
	defer func() {
		if !recovers {
			return
		}
		if r := recover(); r != nil {
			why := fmt.Sprintf("internal error: %v; at %s", r, debug.Stack())
			poisoned.Store(&why)
			if front != nil {
				C.stop_front(front)
			}
			if givesUp {
				C.jc_held_give_up()
			}
			status = internal(out, why)
		}
	}()
	return body()
}

func internal(out *C.jc_out, why string) C.int32_t {
	if out != nil {
		out.reason = C.int32_t(store.Panicked)
		if out.error == nil {
			out.error = C.CString(why)
		}
	}
	return C.JITCACHE_ERR_INTERNAL
}

// fail returns status with the text of an error.
func fail(out *C.jc_out, status C.int32_t, err error) C.int32_t {
	out.error = C.CString(err.Error())
	return status
}

// because returns status with a reason, or OK if there is none.
func because(out *C.jc_out, status C.int32_t, why store.Reason) C.int32_t {
	if why == store.None {
		return C.JITCACHE_OK
	}
	out.reason = C.int32_t(why)
	return status
}
