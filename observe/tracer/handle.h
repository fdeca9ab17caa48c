/* handle.h: what is done at a stop. */
#ifndef JO_HANDLE_H
#define JO_HANDLE_H

#include <stdint.h>

#include "process.h"

/* What jo_handle_call wants. A negative number is minus an errno: the call is known to
 * fail with that, and may be made to. */
enum {
	JO_GO_ON,
	JO_WAIT_FOR_END,
	JO_BROKEN_PIPE, /* of a write: it has to fail as if the reader were gone */
	JO_ANSWERED,    /* the process has its answer, and the kernel is not asked */
};

/* jo_handle_call looks into a call before the kernel does it. */
int jo_handle_call(jo_process *p, long nr, const uint64_t args[6]);

/* jo_handle_interrupted says of a call that a signal has interrupted whether it would
 * not have been without an observer. */
int jo_handle_interrupted(jo_process *p, long nr, const uint64_t args[6]);

#endif
