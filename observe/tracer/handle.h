/* handle.h: what is done at a stop. */
#ifndef JO_HANDLE_H
#define JO_HANDLE_H

#include <stdint.h>

#include "process.h"

/* jo_handle_call looks into a call before the kernel does it. It returns 1 if
 * its end is to be waited for, and minus an errno if it is known to fail with
 * that; it may be made to. */
int jo_handle_call(jo_process *p, long nr, const uint64_t args[6]);

/* jo_handle_result is called at the end of such a call. */
void jo_handle_result(jo_process *p, int64_t result);

#endif
