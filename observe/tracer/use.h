/* use.h: what the tree uses and no name shows (JO_USE_… of report.h), and the descriptors that
 * the command was started with. */
#ifndef JO_USE_H
#define JO_USE_H

#include <stdint.h>

#include "process.h"

/* jo_use notes a use by a process; NULL stands for the whole tree. detail may be NULL. */
void jo_use(const jo_process *p, int what, const char *detail);

/* jo_use_told notes a use of what /proc tells about a process of the tree, unless it follows from the
 * process. rest is as for jo_real_follows, path is how the tree names it. */
void jo_use_told(const jo_process *p, const char *rest, const char *path);

/* jo_use_blind reports whether the tree may see other files than the tracer, because of other
 * mounts or another root, or runs programs whose calls the tracer does not understand. From then
 * on the tracer looks at nothing and answers no call. */
int jo_use_blind(void);

/* jo_use_outside reports whether a process outside may have noticed the tree or told it
 * something. If so, the tree cannot be started a second time. */
int jo_use_outside(void);

/* jo_use_program returns the bit of a process's program in masks of programs (names.h). */
uint64_t jo_use_program(const jo_process *p);

/* jo_use_came notes the descriptors that the command is started with. jo_use_inherited reports
 * whether a descriptor's file is one of theirs, and notes the use. */
void jo_use_came(const int *fds, int n);
int jo_use_inherited(const jo_process *p, int fd);

/* jo_use_given_as returns the number by which the command was given a descriptor's file, -1 if it was not.
 * jo_use_given_number reports whether it was given a descriptor of a number. */
int jo_use_given_as(const jo_process *p, int fd);
int jo_use_given_number(int fd);

/* jo_use_report writes JO_USE records. */
void jo_use_report(void);

#endif
