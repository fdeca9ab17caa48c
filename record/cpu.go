package record

/*
#cgo CFLAGS: -std=gnu11 -O2 -Wall
#include "cpu.h"
*/
import "C"

import (
	"encoding/binary"
	"sync"

	"jitcache/core/key"
)

// Processor is the digest of all that -march=native and the like ask of the
// processor. It asks once in a process: where the processor is a virtual one each
// question takes 30 us.
var Processor = sync.OnceValue(func() key.Digest {
	var words [C.JC_CPU_WORDS]C.uint32_t
	n := C.jc_cpu(&words[0])
	all := []byte("cpu")
	for _, w := range words[:n] {
		all = binary.LittleEndian.AppendUint32(all, uint32(w))
	}
	return key.Sum(all)
})
