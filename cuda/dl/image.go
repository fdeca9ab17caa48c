// The libraries that the process has loaded.

package dl

// #cgo CFLAGS: -std=gnu11 -O2 -Wall -D_GNU_SOURCE
// #cgo LDFLAGS: -ldl
// #include <stdlib.h>
// #include "image.h"
import "C"

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unsafe"

	_ "jitcache/core/mutex" // image.c's
)

// image describes a library that the process has loaded, at the time of the call.
type image struct {
	base uintptr
	path string // as the library was opened; may be relative
}

// maxImages bounds the loaded libraries of one name that are looked at. Two NVRTCs in a
// process are rare.
const maxImages = 16

// generation returns a number that changes whenever the process loads or
// unloads a library.
func generation() uint64 { return uint64(C.jc_dl_generation()) }

// images returns the loaded libraries whose file name begins with prefix, in
// the order in which they were loaded.
func images(prefix string) []image {
	var raw [maxImages]C.jc_dl_image
	s := C.CString(prefix)
	defer C.free(unsafe.Pointer(s))
	n := min(int(C.jc_dl_images(s, &raw[0], maxImages)), maxImages)
	found := make([]image, n)
	for i := range found {
		r := &raw[i]
		found[i] = image{base: uintptr(r.base), path: C.GoString(&r.path[0])}
	}
	return found
}

// residentImage returns the library that dlopen(path) would return without loading
// anything, or nil. The loader compares the text of a path before it looks at the file, so
// the library may come from another file than the one that is there now.
func residentImage(path string) *image {
	var base C.uintptr_t
	var name [C.JC_DL_PATH]C.char
	s := C.CString(path)
	defer C.free(unsafe.Pointer(s))
	if C.jc_dl_resident(s, &base, &name[0]) == 0 {
		return nil
	}
	for _, im := range images(filepath.Base(C.GoString(&name[0]))) {
		if im.base == uintptr(base) {
			return &im
		}
	}
	return nil
}

// file returns the current path of the file that is mapped at the image's base. The kernel
// follows renames; ok is false if the file is gone.
func (im *image) file() (path string, ok bool) {
	f, err := os.Open("/proc/self/maps")
	if err != nil {
		return "", false
	}
	defer f.Close()
	return mapped(f, im.base)
}

// mapped returns the path of the file that /proc/PID/maps has at base. Other lines may be
// of any length.
func mapped(maps io.Reader, base uintptr) (path string, ok bool) {
	start := strconv.FormatUint(uint64(base), 16) + "-"
	for r := bufio.NewReader(maps); ; {
		line, err := r.ReadString('\n')
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(strings.TrimLeft(line, "0"), start) {
			at := strings.IndexByte(line, '/')
			return line[max(at, 0):], at > 0 && !strings.HasSuffix(line, " (deleted)")
		}
		if err != nil {
			return "", false
		}
	}
}

// loaderFolders returns where the loader looks for a name without a slash.
func loaderFolders() []string {
	buf := make([]byte, 1<<16)
	n := C.jc_dl_folders((*C.char)(unsafe.Pointer(&buf[0])), C.size_t(len(buf)))
	return strings.FieldsFunc(string(buf[:n]), func(r rune) bool { return r == '\n' })
}
