/* thread_enter.h: a thread's first call into Go. */
#ifndef JC_THREAD_ENTER_H
#define JC_THREAD_ENTER_H

#include "core.h"

/* jc_thread_enter prepares the calling thread for its first call of a core; generation
 * is the core's (runtime.h). It returns at once if that was done. */
void jc_thread_enter(const jc_core *core, uint32_t generation);

#endif
