/* notify.h: a thread for the calls that only look at files.
 *
 * The kernel hands such a call to the reader of the filter's notices (seccomp's
 * SECCOMP_RET_USER_NOTIF), which takes two thirds of the time of a stop. If the thread finds
 * that a name is absent, it answers the call itself. Then the tree has seen what the report
 * says, and the disk is not asked twice. */
#ifndef JO_NOTIFY_H
#define JO_NOTIFY_H

#include <sys/types.h>

/* jo_notify_start takes the child's listener and starts the thread. It returns 0 if that fails.
 * *sync tells whether the kernel hands a call over without waking another CPU (Linux 6.6). */
int jo_notify_start(pid_t child, int listener, int *sync);

/* jo_notify_listener returns the descriptor that notices are read from, -1 if there are
 * none. */
int jo_notify_listener(void);

/* jo_notify_waits reports whether a process waits for an answer that nobody has begun to give. */
int jo_notify_waits(void);

/* The lock for everything that the thread and the tracer share. */
void jo_notify_lock(void);
void jo_notify_unlock(void);

/* jo_notify_end is called under the lock, before the report is written. From then on the
 * thread lets all calls through. */
void jo_notify_end(void);

#endif
