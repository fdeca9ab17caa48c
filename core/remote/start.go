// Starting the helper as a process that outlives the host and is none of its children.

//go:build cgo

package remote

/*
#cgo CFLAGS: -std=gnu11 -O2 -Wall -D_GNU_SOURCE
#include <stdlib.h>
#include "start.h"
*/
import "C"

import (
	"fmt"
	"syscall"
	"unsafe"
)

// startHelper starts a helper that is no child of this process.
func startHelper(program string, environment []string) error {
	arguments, free := texts([]string{"jitcache-storage"})
	defer free()
	variables, freeVariables := texts(environment)
	defer freeVariables()
	closing := C.int(0)
	if closesAll {
		closing = 1
	}
	path := C.CString(program)
	defer C.free(unsafe.Pointer(path))
	if e := C.jc_remote_start(path, arguments, variables, closing); e != 0 {
		return fmt.Errorf("it cannot be started: %w", syscall.Errno(e))
	}
	return nil
}

// texts returns texts as execve wants them, in C's memory.
func texts(words []string) (**C.char, func()) {
	size := C.size_t(len(words)+1) * C.size_t(unsafe.Sizeof(uintptr(0)))
	all := (**C.char)(C.calloc(1, size))
	for i, w := range words {
		unsafe.Slice(all, len(words))[i] = C.CString(w)
	}
	return all, func() {
		for _, p := range unsafe.Slice(all, len(words)) {
			C.free(unsafe.Pointer(p))
		}
		C.free(unsafe.Pointer(all))
	}
}
