/* trace.h: what happens to the processes of the tree, one event after the other. */
#ifndef JO_TRACE_H
#define JO_TRACE_H

#include <sys/types.h>

/* jo_trace_seize begins to trace a process. 0: that is not allowed. */
int jo_trace_seize(pid_t id);

/* jo_trace_event handles what waitpid has said of a process of the tree. */
void jo_trace_event(pid_t id, int what);

/* jo_trace_tick is called every so often while something waits for it (watch.h). */
void jo_trace_tick(void);

/* jo_trace_again says whether the tree has to be run again without a filter, and can be:
 * it needs privileges, and nothing of it has been seen outside. */
int jo_trace_again(void);

/* jo_trace_quiet is called when the report is written: nothing is noted any more. */
void jo_trace_quiet(void);

#endif
