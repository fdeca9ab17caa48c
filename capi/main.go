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

// procs is how many threads run Go code at once. On two cores the runtime would
// choose two. Then a call that is made while four other threads read waits for 10 to
// 13 ms at the 90th percentile, until sysmon takes a processor away from a thread in
// a system call. With one for each of the five threads, and one more, it does not
// wait. With 32 busy threads of the host on a busy machine, the library then has
// eleven threads of its own; at most twelve are promised.
const procs = 6

// memoryLimit makes the collector keep the Go heap small. Entries are in C memory
// and do not count. The stacks of the host's threads do: 256 KiB each (stack.go),
// used or not, for perhaps a thousand threads.
const memoryLimit = 512 << 20

// built says which Go this is, and how its runtime was changed. The build sets it
// (build_library.py). `jitcache doctor` reads it in the library's file, so the linker
// must keep it.
var built string

func init() {
	runtime.KeepAlive(built)
	if limitsProcs {
		runtime.GOMAXPROCS(procs)
	} else {
		runtime.GOMAXPROCS(256) // as many as on a large machine
	}
	debug.SetMemoryLimit(memoryLimit)
}

func main() {}

// front is the front that this core works for. In a forked child the core is in a
// second copy of the library, and the front is in the first.
var front *C.jc_front

// sink passes a log line to the front, which calls the host's callback when no Go
// frame is on the stack any more.
func sink(level core.Level, text string) {
	C.call_log(front, C.int32_t(level), C.CString(text))
}
