/* execute.h: programs that are run. */
#ifndef JO_EXECUTE_H
#define JO_EXECUTE_H

#include "real.h"
#include "process.h"

/* jo_execute_call notes what the kernel reads to run a program: the file, the
 * interpreter that a script names, and the loader that a program names. */
void jo_execute_call(jo_process *p, const jo_path *path);

/* jo_execute_done is called when a process has begun another program. stack is the process's
 * stack pointer. */
void jo_execute_done(jo_process *p, uint64_t stack);

/* jo_execute_privileged reports whether the tree ran a program that should have gained
 * privileges and could not, because it is observed (jo_filter_lowers). */
int jo_execute_privileged(void);

#endif
