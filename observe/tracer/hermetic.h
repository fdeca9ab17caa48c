/* hermetic.h: a tree that is shown one second: as the time of every file, and as when its clock starts.
 *
 * Every answer of stat has that second for all of a file's times. The real-time clock of a process starts there,
 * and goes on by 1 us with each reading, and for a thread by the length of each of its sleeps, so what a program reads
 * follows from the program. A process starts with the clock of its parent. The clocks that count from a start run as
 * ever.
 *
 * What this would do harm to ends the mode for the rest of the tree, which then sees true times: a program that
 * decides by times (decider.h), a connection, a clock that is not known, waits that take long. The result is not
 * kept then. */
#ifndef JO_HERMETIC_H
#define JO_HERMETIC_H

#include <stdint.h>

#include "process.h"

/* jo_hermetic_start begins the mode. */
void jo_hermetic_start(int64_t second);

/* jo_hermetic reports whether the mode is on. */
int jo_hermetic(void);

/* jo_hermetic_second returns the second that is shown. */
int64_t jo_hermetic_second(void);

/* jo_hermetic_end ends the mode. why says what somebody did; it is noted as a use. */
void jo_hermetic_end(const jo_process *p, const char *why);

#endif
