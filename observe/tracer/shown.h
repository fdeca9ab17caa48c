/* shown.h: the calls of a hermetic tree, and what it is shown in their answers. */
#ifndef JO_SHOWN_H
#define JO_SHOWN_H

#include <stdint.h>

#include "process.h"
#include "stop.h"

/* jo_shown_stops reports whether the filter has to stop at a call, beside those at which it always does. */
int jo_shown_stops(long nr);

/* jo_shown_call handles a stop of the filter in place of jo_handle_call, which it calls, and returns the same. */
int jo_shown_call(jo_process *p, const jo_stop *s);

/* jo_shown_left is called at the end of a call, with its result, whether or not anything is left to do. */
void jo_shown_left(jo_process *p, int64_t result);

#endif
