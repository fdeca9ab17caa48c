/* front.h: the front is a process that stands in for the command, with the tracer as its
 * child.
 *
 * The parent of the front waits for it and sends it signals. The front passes on to the
 * command the signals that other processes send. It does not pass on those of a terminal,
 * which reach the whole process group, and so the command. The front ends as the command
 * does, by the same signal or with the same status. If the command has succeeded and its
 * output could not be passed on, the front ends like a program that cannot write its output.
 * A signal that comes while the result is being kept ends the keeping.
 *
 *	jitcache-observe REQUEST LOCK NAME CLAIM KEEP...
 *
 * REQUEST is a descriptor, as for the tracer alone. LOCK is the descriptor of a lock file,
 * -1 for none. The front keeps it open until the result is kept, or cannot be; then it
 * removes the file, by its NAME, and closes LOCK. CLAIM is a descriptor that the front closes
 * at the same time, 0 for none. KEEP is the path and the words of a program that keeps the
 * result. The front runs it when the command has succeeded, or with JO_FAILURES however the
 * command has ended. KEEP inherits CLAIM and the descriptors of the report and the output. */
#ifndef JO_FRONT_H
#define JO_FRONT_H

#include <sys/types.h>

/* JO_HELD begins the names of variables that the front gets under another name, because it must not obey them
 * (observe/become.go: held). The program that keeps the result gets them under their own. */
#define JO_HELD "JITCACHE_HELD_"

#include "request.h"

/* jo_front_start forks the tracer, and returns in it. In the front it does not return. words
 * are main's arguments from LOCK on. */
void jo_front_start(jo_request *r, char **words);

/* What the tracer tells the front. Without a front these do nothing. */

/* jo_front_runs: the command runs. */
void jo_front_runs(pid_t command);

/* jo_front_ended: the command has ended, with this status of waitpid. */
void jo_front_ended(int status);

/* jo_front_lost: output could not be passed on because of this errno, and no write of the
 * command has failed with it; 0: there is no such output. */
void jo_front_lost(int why);

/* jo_front_lives: processes that the command started live on, and so does the tracer. */
void jo_front_lives(void);

/* jo_front_vain: the result will not be kept, so nobody needs to wait for it. */
void jo_front_vain(void);

/* jo_front_plain: the command cannot be observed, and nothing outside has noticed the attempt.
 * The front then executes the command itself. The call returns, with 0, only if there is no
 * front. */
int jo_front_plain(void);

/* jo_front reports whether there is a front. */
int jo_front(void);

#endif
