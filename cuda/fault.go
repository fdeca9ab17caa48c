package cuda

import (
	"errors"

	"jitcache/core/blob"
	"jitcache/cuda/driver"
	"jitcache/cuda/nvrtc"
)

// Fault is whose fault an error is.
type Fault int

const (
	BadRequest     Fault = iota // malformed
	DoesNotCompile              // the source; or the compiler failed
	NoLibrary                   // NVRTC or the driver is missing or not whole
	DriverFailed                // a call of the driver
	NoMemory
)

// libraryError is an error of finding or opening a library.
type libraryError struct{ error }

func (e libraryError) Unwrap() error { return e.error }

// FaultOf returns whose fault an error of this package is.
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

// LogOf returns what the compiler said, "" if an error is not one of compiling.
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
