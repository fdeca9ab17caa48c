/* clock.h: the real-time clock that a hermetic tree is shown. */
#ifndef JO_CLOCK_H
#define JO_CLOCK_H

#include <stdint.h>

#include "process.h"
#include "stop.h"

/* jo_clock_call answers a call that reads a clock. It returns 1 if the call is of that kind, also where the mode ends
 * or is over and the kernel answers. late: the tree has waited for so long that a reading ends the mode. */
int jo_clock_call(jo_process *p, const jo_stop *s, int late);

/* jo_clock_shown returns what the clock shows a process or thread now, in nanoseconds after the second. jo_clock_set
 * sets it, but never back. */
int64_t jo_clock_shown(const jo_process *p);
void jo_clock_set(jo_process *p, int64_t shown);

#endif
