// Package began has the limit on open files that the process was started with. It imports
// nothing, so that it is initialized before package syscall, which raises the limit: of
// packages that are ready, the one whose path comes first is (The Go Programming Language
// Specification, "Program initialization"). The number of the call is the package's own for
// the same reason.
package began

import _ "unsafe" // for go:noescape and the assembly, nothing is initialized

// openFiles is RLIMIT_NOFILE, the same on all architectures that the library is built for.
const openFiles = 7

// Limit is a limit as prlimit(2) has it: soft, hard.
type Limit [2]uint64

// OpenFiles is the limit; Known is false if the kernel did not say.
var (
	OpenFiles Limit
	Known     = prlimit(openFiles, &OpenFiles) == 0
)

// prlimit asks for a limit of this process. It returns 0, or an error below it.
//
//go:noescape
func prlimit(resource uintptr, old *Limit) (errno uintptr)
