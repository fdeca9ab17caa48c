// Package cpu says what the processor is to a compiler: all that -march=native and
// the like ask of it. What tells one core of the processor from another is left
// out.
//
// It is Go and its assembler (core/cpuid), for the launcher is built without C.
package cpu

import (
	"encoding/binary"
	"sync"
)

// Description is features, model and caches. It asks once in a process: where the
// processor is a virtual one each question takes 30 us.
var Description = sync.OnceValue(func() []byte {
	all := []byte("cpu")
	for _, w := range words() {
		all = binary.LittleEndian.AppendUint32(all, w)
	}
	if !thisOne {
		all = append(all, "another"...)
	}
	return all
})
