/* round.h: a command that lives on, and works in rounds.
 *
 * At the end of a round it makes the system call JO_MARK, which there is not, and
 * before it is answered the report is written: of everything that was seen since the
 * command has started. A report of several rounds is as many reports in a row, in
 * which contents, listings and programs come once. */
#ifndef JO_ROUND_H
#define JO_ROUND_H

#include <stdint.h>

#define JO_MARK 0x6a63

/* jo_round_start says whether the command works in rounds. */
void jo_round_start(int rounds);

/* jo_round_mark ends a round; 0: the call is one like any other. */
int jo_round_mark(void);

/* jo_round_report writes what was seen, and the end. */
void jo_round_report(int status, int failure, uint32_t flags);

#endif
