package nvrtc

import "fmt"

// Failed is a source that does not compile.
type Failed struct {
	Name string
	Log  string // what the compiler said; many lines
}

func (f *Failed) Error() string { return "nvrtc: " + f.Name + " does not compile" }

// Error is a call of NVRTC that failed for any other reason.
type Error struct {
	Call   string
	Status int
	Text   string // NVRTC's word for the status
	Log    string // what it said, "" if it said nothing
}

func (e *Error) Error() string {
	return fmt.Sprintf("nvrtc: %s: %s (%d)", e.Call, e.Text, e.Status)
}

const compileCall = "nvrtcCompileProgram"

// Statuses of NVRTC by which a source or its options are at fault.
const (
	statusInvalidOption = 5
	statusCompilation   = 6
)

// Failure is the error of a call that has failed for a source of a name: a *Failed or an
// *Error.
func Failure(name, call string, status int, text, log string) error {
	if call == compileCall && (status == statusCompilation || status == statusInvalidOption) {
		return &Failed{name, log}
	}
	return &Error{Call: call, Status: status, Text: text, Log: log}
}

// Empty is the error where options leave nothing of a target: with -arch=compute_90
// there is no cubin, and without -dlto no LTO-IR.
func Empty(name string, target Target, log string) error {
	return &Failed{name, fmt.Sprintf("nvrtc made no %v with these options\n%s", target, log)}
}
