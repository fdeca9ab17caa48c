/* notify.h: calls that only look, answered by a thread of their own.
 *
 * The kernel hands such a call to whoever reads the filter's notices (seccomp's
 * SECCOMP_RET_USER_NOTIF), which costs two thirds of a stop. And a name that is
 * known to be absent can be answered at once: then the tree has seen what the
 * report says, and the disk was not asked twice. */
#ifndef JO_NOTIFY_H
#define JO_NOTIFY_H

#include <sys/types.h>

/* jo_notify_start takes the child's listener and starts the thread. It returns 0
 * if that cannot be; sync says whether the kernel hands over without waking
 * another CPU (Linux 6.6). */
int jo_notify_start(pid_t child, int listener, int *sync);

/* jo_notify_listener returns the descriptor that notices are read from, -1 if there are
 * none. */
int jo_notify_listener(void);

/* What the thread and the tracer share is touched under this lock. */
void jo_notify_lock(void);
void jo_notify_unlock(void);

/* jo_notify_end is called before the report is written, under the lock: from then
 * on calls are let through. */
void jo_notify_end(void);

#endif
