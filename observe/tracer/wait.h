/* wait.h: waits of a hermetic tree. A time at which a wait by the real-time clock is to end is moved by the difference
 * between the true clock and that of the process. When a sleep, or such a wait, has run out, the clock that the thread
 * reads shows that, or a program that waits for a time would wait for ever. (A sleep is a wait for nothing but a time.)
 */
#ifndef JO_WAIT_H
#define JO_WAIT_H

#include <stdint.h>

#include "process.h"
#include "stop.h"

/* jo_wait_is reports whether a call may wait for a time. */
int jo_wait_is(long nr);

/* jo_wait_begins is called where a process begins such a call, and jo_wait_ends at its end. */
void jo_wait_begins(jo_process *p, const jo_stop *s);
void jo_wait_ends(jo_process *p, int64_t result);

/* jo_wait_long reports whether the processes of the tree have together waited for so long, until the time ran out, that
 * they may be waiting for a clock that does not go on: that of another process, or one by which poll waits. */
int jo_wait_long(void);

#endif
