/* trace.h: the ptrace events of the tree's processes. */
#ifndef JO_TRACE_H
#define JO_TRACE_H

#include <sys/types.h>

/* jo_trace_seize begins to trace a process. It returns 0 if that is not allowed. */
int jo_trace_seize(pid_t id);

/* jo_trace_event handles a status that waitpid has returned for a process of the tree. */
void jo_trace_event(pid_t id, int what);

/* jo_trace_tick is called at each tick of the timer (watch.h). */
void jo_trace_tick(void);

/* jo_trace_again reports whether the tree must and can be run again without a filter: it needs
 * privileges, and nothing outside has noticed it yet. */
int jo_trace_again(void);

/* jo_trace_quiet is called when the report is written. Nothing is noted after it. */
void jo_trace_quiet(void);

#endif
