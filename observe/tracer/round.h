/* round.h: a command that lives on and works in rounds.
 *
 * At the end of a round the command makes the system call JO_MARK, which does not exist. Before
 * the call goes on, the tracer writes a report of everything that it has seen since the
 * command's start. Several rounds make several reports in a row. A content, a listing and a
 * program come only in the first report after they were seen. */
#ifndef JO_ROUND_H
#define JO_ROUND_H

#include <stdint.h>

#define JO_MARK 0x6a63

/* jo_round_start sets whether the command works in rounds. */
void jo_round_start(int rounds);

/* jo_round_mark ends a round. It returns 0 if the command does not work in rounds: then the call
 * is one like any other. */
int jo_round_mark(void);

/* jo_round_leaves reports whether a command in rounds may still end by itself, because its host
 * has died: its channel is closed, and it may have files to remove. It has a moment for that. */
int jo_round_leaves(void);

/* jo_round_report writes the records of what was seen, and the record of the end. */
void jo_round_report(int status, int failure, uint32_t flags);

#endif
