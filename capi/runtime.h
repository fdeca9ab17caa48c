/* runtime.h: the core of this process. */
#ifndef JC_RUNTIME_H
#define JC_RUNTIME_H

#include "core.h"

/* jc_core_get returns the core of this process, starting one in a forked
 * child. NULL: it cannot be; jc_no_core() is then what to return. */
const jc_core *jc_core_get(void);
int32_t jc_no_core(void);

/* jc_core_running returns the core if it runs already, without starting one. */
const jc_core *jc_core_running(void);

/* jc_core_stopped says that the core has panicked and answers no more calls. */
int jc_core_stopped(void);

/* jc_core_generation changes when the process has another core than before:
 * in a forked child. What an older one has made must not be used. */
uint32_t jc_core_generation(void);

/* Around fork, under jc_start_lock: the core's own locks. The child forgets its
 * parent's core, which it must not use. */
void jc_core_fork_prepare(void);
void jc_core_fork_parent(void);
void jc_core_fork_child(void);

#endif
