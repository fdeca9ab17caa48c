// Library: an opened library and its functions.

package dl

// #include <stdlib.h>
// #include "image.h"
import "C"

import (
	"fmt"
	"strings"
	"unsafe"
)

// Library is an opened library. It stays open until the process ends.
type Library struct {
	Path   string
	handle unsafe.Pointer
}

// Open loads the library with local symbols, or returns the one that is loaded. It may be
// called again, and then returns the same library. An error has the loader's own text.
//
// Open does not load a file that was already loaded when it was found. If that library was
// unloaded since, Open fails, and the caller asks Find again.
func (f File) Open() (*Library, error) {
	s := C.CString(f.Path)
	defer C.free(unsafe.Pointer(s))
	var why [1024]C.char
	resident := C.int(0)
	if f.image != nil {
		resident = 1
	}
	handle := C.jc_dl_open(s, resident, &why[0], C.size_t(len(why)))
	if handle == nil {
		return nil, fmt.Errorf("%s: %s", f.Path, strings.TrimPrefix(C.GoString(&why[0]), f.Path+": "))
	}
	return &Library{f.Path, handle}, nil
}

// Symbol returns the address of a function, nil if the library has none of that
// name.
func (l *Library) Symbol(name string) unsafe.Pointer {
	s := C.CString(name)
	defer C.free(unsafe.Pointer(s))
	return C.jc_dl_symbol(l.handle, s)
}

// Symbols returns the addresses of functions, in the order of names. A function whose name
// begins with "?" may be missing; its address is then nil. The error names all others that
// are missing.
func (l *Library) Symbols(names ...string) ([]unsafe.Pointer, error) {
	found := make([]unsafe.Pointer, len(names))
	var missing []string
	for i, name := range names {
		name, optional := strings.CutPrefix(name, "?")
		if found[i] = l.Symbol(name); found[i] == nil && !optional {
			missing = append(missing, name)
		}
	}
	if missing != nil {
		return nil, fmt.Errorf("%s: has no %s", l.Path, strings.Join(missing, ", "))
	}
	return found, nil
}
