/* runtime.h: the core of this process. */
#ifndef JC_RUNTIME_H
#define JC_RUNTIME_H

#include "core.h"

/* jc_core_get returns the core of this process, and starts one in a forked child. If
 * it returns NULL, there can be none: return jc_no_core(). */
const jc_core *jc_core_get(void);
int32_t jc_no_core(void);

/* jc_core_running returns the core if one runs, and never starts one. */
const jc_core *jc_core_running(void);

/* jc_core_stopped says whether the core has panicked: it answers no more calls. */
int jc_core_stopped(void);

/* jc_core_generation changes when the process gets another core, in a forked child.
 * Objects of an older generation's core must not be used. */
uint32_t jc_core_generation(void);

/* Around fork, under jc_start_lock: they take the core's own locks. The child forgets
 * its parent's core, which it must not use. */
void jc_core_fork_prepare(void);
void jc_core_fork_parent(void);
void jc_core_fork_child(void);

#endif
