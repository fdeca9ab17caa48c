// Room on a thread's Go stack for the host's signal handlers.

package main

// #include "core.h"
import "C"

// A handler that the host has installed without SA_ONSTACK runs on the stack that
// the thread is on when the signal comes. In Go that is a goroutine's stack, which
// begins with 8 KiB: the handler would overwrite Go's heap. Go grows a stack by
// copying it when a function needs more, and does not shrink it again (NO_SHRINKING
// in capi/overlay/readback.py). So one call of such a function makes room, 256 KiB in
// all, for three nested handlers with frames of 64 KiB. Unused stack costs only
// address space.
const (
	frameSize = 64 << 10
	frames    = 3
)

// fillFrames is never set, but the compiler does not know that.
var fillFrames bool

//export jcgo_thread_enter
func jcgo_thread_enter() C.int32_t {
	growStack(frames)
	return C.JITCACHE_OK
}

// growStack makes calls with large frames, which do nothing.
//
//go:noinline
func growStack(n int) {
	if fillFrames {
		var frame [frameSize]byte
		fill(&frame)
	}
	if n > 1 {
		growStack(n - 1)
	}
}

//go:noinline
func fill(frame *[frameSize]byte) {
	for i := range frame {
		frame[i] = byte(i)
	}
}
