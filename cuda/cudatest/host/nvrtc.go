// A compile by NVRTC alone, with which tests compare.

package host

// #include <stddef.h>
// #include <stdlib.h>
// static int create(void *f, void **p, const char *source, const char *name, int n, char **headers, char **names)
// {
//	return ((int (*)(void **, const char *, const char *, int, char **, char **))f)(p, source, name, n, headers, names);
// }
// static int compile(void *f, void *p, int n, char **options) { return ((int (*)(void *, int, char **))f)(p, n, options); }
// static int size(void *f, void *p, size_t *n) { return ((int (*)(void *, size_t *))f)(p, n); }
// static int read(void *f, void *p, void *out) { return ((int (*)(void *, void *))f)(p, out); }
// static int destroy(void *f, void **p) { return ((int (*)(void **))f)(p); }
import "C"

import (
	"strings"
	"unsafe"
)

// Source is the input of NVRTC.
type Source struct {
	Text    string
	Name    string
	Headers map[string]string
	Options []string
}

// Compile compiles with a libnvrtc directly, and returns the cubin, the log and the
// status.
func Compile(nvrtc Symbols, s Source) (cubin []byte, log string, code int) {
	var kept []unsafe.Pointer
	text := func(s string) *C.char {
		c := C.CString(s)
		kept = append(kept, unsafe.Pointer(c))
		return c
	}
	defer func() {
		for _, c := range kept {
			C.free(c)
		}
	}()
	var headers, names, options []*C.char
	for name, header := range s.Headers {
		headers, names = append(headers, text(header)), append(names, text(name))
	}
	for _, o := range s.Options {
		options = append(options, text(o))
	}
	h := Host{nvrtc}
	var p unsafe.Pointer
	check("nvrtcCreateProgram", C.create(h.symbol("nvrtcCreateProgram"), &p, text(s.Text), text(s.Name),
		C.int(len(s.Headers)), unsafe.SliceData(headers), unsafe.SliceData(names)))
	code = int(C.compile(h.symbol("nvrtcCompileProgram"), p, C.int(len(s.Options)), unsafe.SliceData(options)))
	log = strings.TrimRight(string(h.read(p, "ProgramLog")), "\x00")
	if code == 0 {
		cubin = h.read(p, "CUBIN")
	}
	check("nvrtcDestroyProgram", C.destroy(h.symbol("nvrtcDestroyProgram"), &p))
	return cubin, log, code
}

// read returns one of the results of a program.
func (h Host) read(p unsafe.Pointer, what string) []byte {
	var n C.size_t
	check(what, C.size(h.symbol("nvrtcGet"+what+"Size"), p, &n))
	out := make([]byte, n+1)
	check(what, C.read(h.symbol("nvrtcGet"+what), p, unsafe.Pointer(&out[0])))
	return out[:n]
}
