// The errors of the driver, and which of them are about the image.

package driver

// #include "calls.h"
import "C"

import (
	"errors"
	"fmt"
	"strings"
)

// Error is the error of a driver call.
type Error struct {
	Call string // as "cuModuleLoadDataEx"
	Code int    // as 209
	Name string // as "CUDA_ERROR_NO_BINARY_FOR_GPU"
	Text string // the driver's text for the code
	Of   string // the driver's log for this image, or the name that was not found; may be ""
}

// Error returns all of it in one line.
func (e *Error) Error() string {
	s := e.Call + ": " + e.Name + ": " + e.Text
	if e.Of != "" {
		s += " (" + e.Of + ")"
	}
	return s
}

// NoDriver is the error if there is no driver, or it cannot be opened.
type NoDriver struct {
	Err error // from package dl
}

func (e *NoDriver) Error() string { return "no CUDA driver: " + e.Err.Error() }

// Unwrap returns the reason.
func (e *NoDriver) Unwrap() error { return e.Err }

// ErrNoContext is returned by Load on a thread without a current context.
var ErrNoContext = errors.New("no CUDA context is current in this thread: " +
	"make one current with cuCtxSetCurrent, or call cudaFree(0), which makes the runtime's current")

// ErrImage is returned for an image that is shorter than its header says. The driver does
// not know the length, and would read beyond the end.
var ErrImage = errors.New("image is truncated")

// refusals are the codes that are about the image. The codes of a driver that has no
// compiler for PTX, or may not use it, are not among them: such a driver refuses every PTX.
var refusals = map[int]bool{
	C.JC_CUDA_INVALID_IMAGE:                  true,
	C.JC_CUDA_NO_BINARY_FOR_GPU:              true,
	C.JC_CUDA_INVALID_PTX:                    true,
	C.JC_CUDA_UNSUPPORTED_PTX_VERSION:        true,
	C.JC_CUDA_UNSUPPORTED_DEVSIDE_SYNC:       true,
	C.JC_CUDA_INVALID_SOURCE:                 true,
	C.JC_CUDA_SHARED_OBJECT_SYMBOL_NOT_FOUND: true,
	C.JC_CUDA_SHARED_OBJECT_INIT_FAILED:      true,
}

// Refused reports whether an error of Load is about the image itself, so that
// another image may do, and not about memory, context or device.
func Refused(err error) bool {
	var e *Error
	return errors.Is(err, ErrImage) || errors.As(err, &e) && e.Call == "cuModuleLoadDataEx" && refusals[e.Code]
}

// gone are the codes of an unload that say that there is nothing left to unload: the
// context was destroyed, the driver is shutting down, or this process is a forked child of
// the one that loaded the module.
var gone = map[int]bool{
	C.JC_CUDA_NOT_INITIALIZED:      true,
	C.JC_CUDA_DEINITIALIZED:        true,
	C.JC_CUDA_INVALID_CONTEXT:      true,
	C.JC_CUDA_INVALID_HANDLE:       true,
	C.JC_CUDA_CONTEXT_IS_DESTROYED: true,
}

// failure turns the result of the C code into an error, nil if nothing failed.
func (d *Driver) failure(f C.jc_failure, of string) error {
	if f.code == 0 {
		return nil
	}
	var name, text *C.char
	C.jc_driver_text(&d.calls, f.code, &name, &text)
	e := &Error{C.GoString(f.call), int(f.code), C.GoString(name), C.GoString(text), oneLine(of)}
	if name == nil {
		e.Name = fmt.Sprintf("error %d", e.Code)
	}
	if text == nil {
		e.Text = "unknown to this driver"
	}
	return e
}

func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
}
