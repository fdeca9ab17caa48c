// Package began has the limit on open files that the process was started with. It must be
// initialized before package syscall, which raises the limit. So it imports nothing: of the
// packages that can be initialized next, Go takes the one whose path comes first (The Go
// Programming Language Specification, "Program initialization"). For the same reason it has
// the number of the system call itself.
package began

import _ "unsafe" // for go:noescape and the assembly, nothing is initialized

// openFiles is RLIMIT_NOFILE, the same on all architectures that the library is built for.
const openFiles = 7

// Limit is a limit in the form of prlimit(2): soft, hard.
type Limit [2]uint64

// OpenFiles is the limit. Known is false if the kernel did not tell it.
var (
	OpenFiles Limit
	Known     = prlimit(openFiles, &OpenFiles) == 0
)

// prlimit asks for a limit of this process. It returns 0, or an error below it.
//
//go:noescape
func prlimit(resource uintptr, old *Limit) (errno uintptr)
