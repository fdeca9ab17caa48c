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

/* jc_core_generation changes when the process has another core than before:
 * in a forked child. What an older one has made must not be used. */
uint32_t jc_core_generation(void);

/* jc_core_forget is for a forked child, which must not use its parent's core. */
void jc_core_forget(void);

#endif
