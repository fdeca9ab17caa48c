/* front.h: a program that was started to be a command, and has the tracer as its
 * child.
 *
 * It stands where the command would stand: its parent waits for it, and signals are
 * sent to it. Signals that others send it hands on; those that come from a terminal
 * go to the whole group, and so to the command. It ends as the command does, by the
 * same signal or with the same status; if the command has ended well and its output could
 * not be written, as one does that cannot write it. A signal that comes while the result is
 * kept ends that.
 *
 *	jitcache-observe REQUEST LOCK NAME CLAIM KEEP...
 *
 * REQUEST is a descriptor, as for the tracer alone. LOCK is one that is held open
 * until the command's result is kept, and is then closed and its file NAME removed;
 * -1: there is none. CLAIM is one that is closed then, too; 0: there is none. KEEP are the path and the
 * words of a program that is run when the command has ended well, with CLAIM and the descriptors of the
 * report and of the output; with JO_FAILURES, however it has ended. */
#ifndef JO_FRONT_H
#define JO_FRONT_H

#include <sys/types.h>

#include "request.h"

/* jo_front_start makes the tracer, and returns in it. In the front it does not
 * return. words are those of main. */
void jo_front_start(jo_request *r, char **words);

/* What the tracer tells the front. They do nothing where there is no front. */

/* jo_front_runs: the command runs. */
void jo_front_runs(pid_t command);

/* jo_front_ended: it has ended so, as waitpid gives it. */
void jo_front_ended(int status);

/* jo_front_lost: some of what it has printed could not be passed on, and it was not told: for
 * this errno; 0: there is nothing of that kind. */
void jo_front_lost(int why);

/* jo_front_lives: what it has started goes on, and so does the tracer. */
void jo_front_lives(void);

/* jo_front_vain: its result will not be kept. Nobody need wait for it. */
void jo_front_vain(void);

/* jo_front_plain: it cannot be observed, and nobody has noticed that it was tried. The
 * front becomes the command. It returns 0 where there is no front, and else not. */
int jo_front_plain(void);

/* jo_front reports whether there is one. */
int jo_front(void);

#endif
