/* use.h: uses of what no name shows (JO_USE_… of report.h), and the descriptors that
 * the command came with. */
#ifndef JO_USE_H
#define JO_USE_H

#include <stdint.h>

#include "process.h"

/* jo_use notes a use by a process, or NULL for the tree, with a detail that may be
 * NULL. */
void jo_use(const jo_process *p, int what, const char *detail);

/* jo_use_blind says whether the tree may see another world than the tracer: other
 * mounts, another root, or programs whose calls the tracer does not understand. Then
 * nothing is looked at any more, and no call is answered. */
int jo_use_blind(void);

/* jo_use_outside says whether somebody outside may have noticed that the tree runs,
 * or have told it something: it cannot be started again as if nothing had been. */
int jo_use_outside(void);

/* jo_use_program returns the bit of a process's program in masks. */
uint64_t jo_use_program(const jo_process *p);

/* jo_use_came notes the descriptors that the command comes with. jo_use_inherited
 * reports whether a descriptor is one of them, and notes the use. */
void jo_use_came(const int *fds, int n);
int jo_use_inherited(const jo_process *p, int fd);

/* jo_use_report writes JO_USE records. */
void jo_use_report(void);

#endif
