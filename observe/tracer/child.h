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

/* jo_child_told returns what has become of that: 'l' for notices, which are read from a
 * descriptor in the child, and the child waits for a second jo_child_go, 'n', or 'p' to
 * end; 's' for stops; 'u' for no filter at all: it ends. */
char jo_child_told(int *listener);

/* jo_child_failed returns 0 if the child has come to execve, and that worked, else an
 * errno. Called when the child has ended or run its program. */
int jo_child_failed(void);

#endif
