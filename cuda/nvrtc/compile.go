// Compiler: a loaded NVRTC, and a compile with it.

package nvrtc

/*
#cgo CFLAGS: -std=gnu11 -O2 -Wall
#cgo LDFLAGS: -ldl
#include "builtins.h"
#include "nvrtc.h"
#include <stdlib.h>

// Calls through the table. Go cannot call a function pointer.
static int do_version(jc_nvrtc *t, int *major, int *minor) { return t->version(major, minor); }
static const char *do_error(jc_nvrtc *t, int status) { return t->error_string(status); }
static int do_create(jc_nvrtc *t, jc_nvrtc_program *p, const char *source, const char *name, int n, char **texts, char **names)
{
	return t->create(p, source, name, n, (const char *const *)texts, (const char *const *)names);
}
static void do_destroy(jc_nvrtc *t, jc_nvrtc_program p) { t->destroy(&p); }
static int do_expression(jc_nvrtc *t, jc_nvrtc_program p, const char *e) { return t->add_expression(p, e); }
static int do_compile(jc_nvrtc *t, jc_nvrtc_program p, int n, char **options)
{
	return t->compile(p, n, (const char *const *)options);
}
static int do_lowered(jc_nvrtc *t, jc_nvrtc_program p, const char *e, const char **name) { return t->lowered_name(p, e, name); }
static int do_log_size(jc_nvrtc *t, jc_nvrtc_program p, size_t *n) { return t->log_size(p, n); }
static int do_log(jc_nvrtc *t, jc_nvrtc_program p, char *log) { return t->log(p, log); }
static int do_size(jc_nvrtc *t, int target, jc_nvrtc_program p, size_t *n) { return t->size[target](p, n); }
static int do_get(jc_nvrtc *t, int target, jc_nvrtc_program p, void *code) { return t->get[target](p, code); }
*/
import "C"

import (
	"fmt"
	"unsafe"

	"jitcache/core/blob"
)

// Target is a kind of code to compile to. The numbers are indexes in the C tables.
type Target int

const (
	Cubin Target = iota // machine code for one architecture
	PTX                 // text for the driver to compile
	LTOIR               // for nvJitLink
)

var targets = []string{"cubin", "ptx", "ltoir"}

// ParseTarget returns the target of a name, "cubin", "ptx" or "ltoir".
func ParseTarget(name string) (Target, bool) {
	for i, t := range targets {
		if t == name {
			return Target(i), true
		}
	}
	return 0, false
}

func (t Target) String() string { return targets[t] }

// Compiler is a loaded NVRTC. Any number of threads may use it: NVRTC is thread-safe.
type Compiler struct{ table *C.jc_nvrtc }

// Header is a header in memory. Name is the name that #include gives it.
type Header struct{ Name, Text string }

// Program is a program to compile.
type Program struct {
	Source, Name string
	Options      []string
	Headers      []Header
	Expressions  []string // name expressions
	Target       Target
}

// Result is the result of a compile. The caller releases Code.
type Result struct {
	Code    *blob.Blob
	Log     string
	Lowered map[string]string // the lowered name of each name expression
}

// New makes a compiler from a library that is loaded from path, and loads its builtins.
// symbol returns the address of a function, nil if the library lacks it. The table is never
// freed, because the library is never closed.
func New(path string, symbol func(name string) unsafe.Pointer) (*Compiler, error) {
	t := (*C.jc_nvrtc)(C.calloc(1, C.size_t(unsafe.Sizeof(C.jc_nvrtc{}))))
	needed := []struct {
		at   unsafe.Pointer
		name string
	}{
		{unsafe.Pointer(&t.version), "nvrtcVersion"},
		{unsafe.Pointer(&t.error_string), "nvrtcGetErrorString"},
		{unsafe.Pointer(&t.create), "nvrtcCreateProgram"},
		{unsafe.Pointer(&t.destroy), "nvrtcDestroyProgram"},
		{unsafe.Pointer(&t.add_expression), "nvrtcAddNameExpression"},
		{unsafe.Pointer(&t.compile), "nvrtcCompileProgram"},
		{unsafe.Pointer(&t.lowered_name), "nvrtcGetLoweredName"},
		{unsafe.Pointer(&t.log_size), "nvrtcGetProgramLogSize"},
		{unsafe.Pointer(&t.log), "nvrtcGetProgramLog"},
	}
	for _, f := range needed {
		p := symbol(f.name)
		if p == nil {
			C.free(unsafe.Pointer(t))
			return nil, fmt.Errorf("nvrtc: the library has no %s", f.name)
		}
		*(*unsafe.Pointer)(f.at) = p
	}
	for i, name := range []string{"CUBIN", "PTX", "LTOIR"} {
		*(*unsafe.Pointer)(unsafe.Pointer(&t.size[i])) = symbol("nvrtcGet" + name + "Size")
		*(*unsafe.Pointer)(unsafe.Pointer(&t.get[i])) = symbol("nvrtcGet" + name)
	}
	c := &Compiler{t}
	if !loadsBuiltins {
		return c, nil
	}
	major, minor := c.Version()
	file := C.CString(path)
	defer C.free(unsafe.Pointer(file))
	C.jc_nvrtc_load_builtins(file, C.int(major), C.int(minor))
	return c, nil
}

// Version returns NVRTC's version. It is for messages: two builds may have the same one.
func (c *Compiler) Version() (major, minor int) {
	var a, b C.int
	C.do_version(c.table, &a, &b)
	return int(a), int(b)
}

// Compile compiles on the calling thread. The error is a *Failed or an *Error.
func (c *Compiler) Compile(p *Program) (*Result, error) {
	if c.table.size[p.Target] == nil || c.table.get[p.Target] == nil {
		major, minor := c.Version()
		return nil, &Error{Call: "compile", Text: fmt.Sprintf("version %d.%d has no target %v", major, minor, p.Target)}
	}
	var a arena
	defer a.free()
	program, err := c.create(p, &a)
	if err != nil {
		return nil, err
	}
	defer C.do_destroy(c.table, program)
	expressions := make([]*C.char, len(p.Expressions))
	for i, e := range p.Expressions {
		expressions[i] = a.cString(e)
		if status := C.do_expression(c.table, program, expressions[i]); status != 0 {
			return nil, c.failed("nvrtcAddNameExpression", status)
		}
	}
	n, options := cStrings(&a, p.Options, func(o string) string { return o })
	status := C.do_compile(c.table, program, n, options)
	log := c.log(program)
	if status != 0 {
		return nil, Failure(p.Name, compileCall, int(status), c.says(status), log)
	}
	return c.resultOf(p, program, expressions, log)
}

func (c *Compiler) create(p *Program, a *arena) (C.jc_nvrtc_program, error) {
	n, texts := cStrings(a, p.Headers, func(h Header) string { return h.Text })
	_, names := cStrings(a, p.Headers, func(h Header) string { return h.Name })
	made := (*C.jc_nvrtc_program)(a.alloc(unsafe.Sizeof(C.jc_nvrtc_program(nil))))
	status := C.do_create(c.table, made, a.cString(p.Source), a.cString(p.Name), n, texts, names)
	if status != 0 {
		return nil, c.failed("nvrtcCreateProgram", status)
	}
	return *made, nil
}

func (c *Compiler) resultOf(p *Program, program C.jc_nvrtc_program, expressions []*C.char, log string) (*Result, error) {
	r := &Result{Log: log, Lowered: make(map[string]string, len(expressions))}
	for i, e := range expressions {
		var name *C.char
		if status := C.do_lowered(c.table, program, e, &name); status != 0 {
			return nil, c.failed("nvrtcGetLoweredName "+p.Expressions[i], status)
		}
		r.Lowered[p.Expressions[i]] = C.GoString(name)
	}
	var size C.size_t
	if status := C.do_size(c.table, C.int(p.Target), program, &size); status != 0 {
		return nil, c.failed(fmt.Sprintf("size of the %v", p.Target), status)
	}
	// With -arch=compute_90 there is no cubin, and without -dlto no LTO-IR.
	if size <= 1 {
		return nil, Empty(p.Name, p.Target, log)
	}
	code, err := blob.New(int(size))
	if err != nil {
		return nil, err
	}
	if status := C.do_get(c.table, C.int(p.Target), program, unsafe.Pointer(&code.Buffer()[0])); status != 0 {
		code.Release()
		return nil, c.failed(fmt.Sprintf("get the %v", p.Target), status)
	}
	n := int(size)
	if p.Target == PTX {
		n-- // the NUL at its end
	}
	code.SetSize(n)
	r.Code = code
	return r, nil
}

func (c *Compiler) log(program C.jc_nvrtc_program) string {
	var size C.size_t
	if C.do_log_size(c.table, program, &size) != 0 || size <= 1 {
		return ""
	}
	buf := (*C.char)(C.malloc(size))
	defer C.free(unsafe.Pointer(buf))
	if C.do_log(c.table, program, buf) != 0 {
		return ""
	}
	return C.GoString(buf)
}

func (c *Compiler) failed(call string, status C.int) *Error {
	return &Error{Call: call, Status: int(status), Text: c.says(status)}
}

func (c *Compiler) says(status C.int) string { return C.GoString(C.do_error(c.table, status)) }
