// Package observe runs a command and reports what it and its descendants look at:
// files, names that are absent, and everything else that the result can depend on.
// It does not decide what of that counts (package record does).
//
// A small program beside the library, jitcache-observe (tracer/), does the work. It
// is not the host's child, so the host gets no SIGCHLD and its wait finds nothing.
// Where it may not trace (in containers that forbid ptrace, or under a debugger) the
// command runs unobserved, and the report says so.
package observe
