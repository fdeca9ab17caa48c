// Package observe runs a command and reports what it and all that it starts look
// at: which files, which names that are absent, and what else its result can
// depend on. It takes no part in deciding what of that counts (package record).
//
// The work is done by a small program beside the library, jitcache-observe
// (tracer/), which is not the host's child: the host's SIGCHLD and wait are its
// own. Where it may not trace (containers that forbid ptrace, a debugger that
// traces already) the command runs as if nothing watched it, and the report says
// so.
package observe
