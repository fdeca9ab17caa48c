/* thread_enter.h: a thread's first call into Go. */
#ifndef JC_THREAD_ENTER_H
#define JC_THREAD_ENTER_H

#include "core.h"

/* jc_thread_enter is what a thread does before its first call of a core, of that
 * generation (runtime.h). */
void jc_thread_enter(const jc_core *core, uint32_t generation);

#endif
