// The errors of NVRTC: of a source, of a call, of the process.

package nvrtc

import (
	"errors"
	"fmt"
)

// Failed is the error for a source that does not compile.
type Failed struct {
	Name string
	Log  string // the compiler's log, many lines
}

func (f *Failed) Error() string { return "nvrtc: " + f.Name + " does not compile" }

// Error is the error of an NVRTC call that failed for any other reason.
type Error struct {
	Call   string
	Status int
	Text   string // NVRTC's text for the status
	Log    string // the compiler's log, may be ""
}

func (e *Error) Error() string {
	return fmt.Sprintf("nvrtc: %s: %s (%d)", e.Call, e.Text, e.Status)
}

const compileCall = "nvrtcCompileProgram"

// The statuses that mean that the source or its options are wrong.
const (
	statusInvalidOption = 5
	statusCompilation   = 6
)

// The statuses by which NVRTC says that it failed itself, whatever the source.
const (
	statusOutOfMemory      = 1
	statusProgramCreation  = 2
	statusBuiltinOperation = 7 // it cannot open its library of builtins
	statusInternal         = 11
)

// IsOfProcess reports whether an error may be due to the process that NVRTC ran in: another
// one may have more memory, or have loaded the builtins from elsewhere. All other errors are
// about the source, the options or the version, and are the same in every process.
func IsOfProcess(err error) bool {
	var e *Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Status {
	case statusOutOfMemory, statusProgramCreation, statusBuiltinOperation, statusInternal:
		return true
	}
	return false
}

// Failure returns the error of a failed call for the source of a name: a *Failed or an
// *Error.
func Failure(name, call string, status int, text, log string) error {
	if call == compileCall && (status == statusCompilation || status == statusInvalidOption) {
		return &Failed{name, log}
	}
	return &Error{Call: call, Status: status, Text: text, Log: log}
}

// Empty returns the error for options that give no code for a target: -arch=compute_90
// gives no cubin, and options without -dlto give no LTO-IR.
func Empty(name string, target Target, log string) error {
	return &Failed{name, fmt.Sprintf("nvrtc made no %v with these options\n%s", target, log)}
}
