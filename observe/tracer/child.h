/* child.h: the command, from fork to execve. */
#ifndef JO_CHILD_H
#define JO_CHILD_H

#include <sys/types.h>

#include "request.h"

/* jo_child_prepare notes how the tracer was started, before it changes anything:
 * the descriptors, and what it does with signals. */
void jo_child_prepare(const jo_request *r);

/* jo_child_start forks. The child waits for jo_child_go, which tells it how it is
 * watched: 'n' with notices, 't' with stops only, 'p' not at all. */
pid_t jo_child_start(const jo_request *r);
void jo_child_go(char how);

/* jo_child_listener returns the descriptor, in the child, that its notices are
 * read from; -1: it has none, and goes on with stops. The child waits for a second
 * jo_child_go, 'n', or 'p' to end: it could not go on without notices. */
int jo_child_listener(void);

/* jo_child_failed returns 0 if the child has come to execve, and that worked; an
 * errno if it did not; -1 if it was to be watched and had no filter. Called when
 * the child has ended or run its program. */
int jo_child_failed(void);

#endif
