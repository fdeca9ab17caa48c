/* round.h: a command that lives on and works in rounds.
 *
 * At the end of a round it makes the system call JO_MARK, which does not exist. Before the
 * tracer answers, it writes a report of everything that was seen since the command's start.
 * Several rounds make several reports in a row, in which contents, listings and programs
 * come once. */
#ifndef JO_ROUND_H
#define JO_ROUND_H

#include <stdint.h>

#define JO_MARK 0x6a63

/* jo_round_start sets whether the command works in rounds. */
void jo_round_start(int rounds);

/* jo_round_mark ends a round. It returns 0 if the command does not work in rounds: the call is
 * one like any other. */
int jo_round_mark(void);

/* jo_round_report writes the records of what was seen, and the record of the end. */
void jo_round_report(int status, int failure, uint32_t flags);

#endif
