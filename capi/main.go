// Command capi is libjitcache.so, built with -buildmode=c-shared.
//
// The public functions are C (the .c files here): they check arguments, keep
// the handles, and survive fork. They call the functions of this package
// through a table (core.h), and these call package core. There is no policy
// here: each export turns C arguments into Go ones, calls one method, and turns
// the answer back.
package main

/*
#cgo CFLAGS: -std=gnu11 -O2 -Wall -fexceptions -fvisibility=hidden -D_GNU_SOURCE
#cgo LDFLAGS: -ldl -lpthread
#include "core.h"

static void call_log(jc_front *front, int32_t level, char *text) { front->log(level, text); }
*/
import "C"

import (
	"runtime"
	"runtime/debug"

	"jitcache/core"
)

// procs is how many threads run Go code at once. With two, as the runtime would
// choose on two cores, a call made while four other threads read waits for 10 to
// 13 ms at the 90th percentile, until sysmon takes a processor away from one
// that is in a system call. With one for each of the five, and one more, it does
// not wait. The library then has as many threads of its own and five more, under
// 32 busy ones of the host on a busy machine: twelve are promised.
const procs = 6

// memoryLimit makes the collector keep the Go heap small; entries are in C
// memory and do not count. The stacks of a thousand threads of the host count,
// with 256 KiB each (stack.go), used or not.
const memoryLimit = 512 << 20

// built says which Go this is, and what has been done to its runtime; the build sets it
// (build_library.py). `jitcache doctor` reads it in the library's file, so it must be there.
var built string

func init() {
	runtime.KeepAlive(built)
	if limitsProcs {
		runtime.GOMAXPROCS(procs)
	}
	debug.SetMemoryLimit(memoryLimit)
}

func main() {}

// front is the front that this core works for. In a forked child the core is a
// second copy of the library, and the front is the first's.
var front *C.jc_front

// sink hands a log line to the front, which gives it to the host's callback
// once no Go frame is on the stack any more.
func sink(level core.Level, text string) {
	C.call_log(front, C.int32_t(level), C.CString(text))
}
