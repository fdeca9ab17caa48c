/* handed.h: open files that a program gets from the one that has started it. */
#ifndef JO_HANDED_H
#define JO_HANDED_H

#include "process.h"

/* jo_handed notes, when a process has begun another program, that this program has opened for reading
 * what the process has open. The program may read it, and ask by fstat for its time, which is not seen. */
void jo_handed(const jo_process *p);

#endif
