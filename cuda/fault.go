// What an error of this package is about.

package cuda

import (
	"errors"

	"jitcache/core/blob"
	"jitcache/cuda/driver"
	"jitcache/cuda/nvrtc"
)

// Fault says what an error is about.
type Fault int

const (
	BadRequest     Fault = iota // the request is malformed
	DoesNotCompile              // the source does not compile, or the compiler failed
	NoLibrary                   // NVRTC or the driver is missing or incomplete
	DriverFailed                // a call of the driver failed
	NoMemory                    // there is not enough memory
)

// libraryError is an error of finding or opening a library.
type libraryError struct{ error }

func (e libraryError) Unwrap() error { return e.error }

// FaultOf returns what an error of this package is about.
func FaultOf(err error) Fault {
	switch {
	case isA[*nvrtc.Failed](err), isA[*nvrtc.Error](err):
		return DoesNotCompile
	case isA[libraryError](err), isA[*driver.NoDriver](err):
		return NoLibrary
	case isA[*driver.Error](err), errors.Is(err, driver.ErrNoContext), errors.Is(err, driver.ErrImage):
		return DriverFailed
	case errors.Is(err, blob.ErrNoMemory):
		return NoMemory
	}
	return BadRequest
}

func isA[E error](err error) bool {
	var e E
	return errors.As(err, &e)
}

// LogOf returns the compiler's log, "" if the error is not one of compiling.
func LogOf(err error) string {
	var failed *nvrtc.Failed
	var other *nvrtc.Error
	switch {
	case errors.As(err, &failed):
		return failed.Log
	case errors.As(err, &other):
		return other.Log
	}
	return ""
}
