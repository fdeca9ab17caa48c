// C memory for the arguments of one compile.

package nvrtc

// #include <stdlib.h>
import "C"

import "unsafe"

// arena is C memory for the arguments of one compilation.
type arena struct{ taken []unsafe.Pointer }

func (a *arena) alloc(size uintptr) unsafe.Pointer {
	p := C.calloc(1, C.size_t(max(size, 1)))
	a.taken = append(a.taken, p)
	return p
}

// cString returns a C string.
func (a *arena) cString(s string) *C.char {
	p := C.CString(s)
	a.taken = append(a.taken, unsafe.Pointer(p))
	return p
}

func (a *arena) free() {
	for _, p := range a.taken {
		C.free(p)
	}
}

// cStrings returns an array of C strings and its length; NULL if it is empty.
func cStrings[T any](a *arena, items []T, text func(T) string) (C.int, **C.char) {
	if len(items) == 0 {
		return 0, nil
	}
	p := (**C.char)(a.alloc(uintptr(len(items)) * unsafe.Sizeof((*C.char)(nil))))
	for i, item := range items {
		unsafe.Slice(p, len(items))[i] = a.cString(text(item))
	}
	return C.int(len(items)), p
}
