/* handle.h: what is done at a stop. */
#ifndef JO_HANDLE_H
#define JO_HANDLE_H

#include <stdint.h>

#include "calls.h"
#include "process.h"

/* jo_handle_call looks into a call before the kernel does it, and returns what is to be
 * done, of calls.h. */
int jo_handle_call(jo_process *p, long nr, const uint64_t args[6]);

/* jo_handle_interrupted says of a call that a signal has interrupted whether it would
 * not have been without an observer. */
int jo_handle_interrupted(jo_process *p, long nr, const uint64_t args[6]);

#endif
