/* handle.h: what the tracer does when it stops a process at a system call. */
#ifndef JO_HANDLE_H
#define JO_HANDLE_H

#include <stdint.h>

#include "calls.h"
#include "process.h"

/* jo_handle_call handles a call before the kernel does. It returns what to do: a constant of
 * calls.h, or minus an errno. */
int jo_handle_call(jo_process *p, long nr, const uint64_t args[6]);

/* jo_handle_interrupted reports whether a signal has interrupted a call that it could not have
 * interrupted without the tracer. */
int jo_handle_interrupted(jo_process *p, long nr, const uint64_t args[6]);

#endif
