/* front.h: the front is a process that stands for the command, with the tracer as its
 * child.
 *
 * The parent of the front waits for it and sends it signals. The front hands on signals
 * that other processes send; signals of a terminal reach the whole group, and so the
 * command. The front ends as the command does, by the same signal or with the same status.
 * If the command has ended well and its output could not be passed on, the front ends like
 * a program that cannot write its output. A signal while the result is being kept ends the
 * keeping.
 *
 *	jitcache-observe REQUEST LOCK NAME CLAIM KEEP...
 *
 * REQUEST is a descriptor, as for the tracer alone. LOCK is a descriptor that stays open
 * until the result is kept; then its file NAME is removed and it is closed; -1: none.
 * CLAIM is a descriptor that is closed at the same time; 0: none. KEEP is the path and the
 * words of a program that runs when the command has ended well, or with JO_FAILURES however
 * it has ended. It inherits CLAIM and the descriptors of the report and of the output. */
#ifndef JO_FRONT_H
#define JO_FRONT_H

#include <sys/types.h>

#include "request.h"

/* jo_front_start makes the tracer, and returns in it. In the front it does not
 * return. words are those of main. */
void jo_front_start(jo_request *r, char **words);

/* What the tracer tells the front. Without a front these do nothing. */

/* jo_front_runs: the command runs. */
void jo_front_runs(pid_t command);

/* jo_front_ended: the command has ended, with this status of waitpid. */
void jo_front_ended(int status);

/* jo_front_lost: output could not be passed on, with this errno, and no write of the command
 * has failed for it; 0: all output was passed on. */
void jo_front_lost(int why);

/* jo_front_lives: processes that the command started go on, and so does the tracer. */
void jo_front_lives(void);

/* jo_front_vain: the result will not be kept. Nobody need wait for it. */
void jo_front_vain(void);

/* jo_front_plain: the command cannot be observed, and nothing outside has noticed the attempt.
 * The front executes the command. It returns, with 0, only if there is no front. */
int jo_front_plain(void);

/* jo_front reports whether there is a front. */
int jo_front(void);

#endif
