/* other.h: calls that name no file. */
#ifndef JO_OTHER_H
#define JO_OTHER_H

#include <stdint.h>

#include "calls.h"
#include "process.h"

/* jo_other_call handles such a call, and returns what jo_handle_call returns. */
int jo_other_call(jo_process *p, const jo_call *c, const uint64_t args[6]);

/* jo_other_identity reports whether a process of the tree may be another user than the tracer,
 * or have fewer privileges. Such a process may see other things than the tracer. */
int jo_other_identity(void);

#endif
