/* child.h: the command, from fork to execve. */
#ifndef JO_CHILD_H
#define JO_CHILD_H

#include <sys/types.h>

#include "request.h"

/* jo_child_prepare notes the descriptors and the signal dispositions that the tracer was
 * started with, before the tracer changes them. */
void jo_child_prepare(const jo_request *r);

/* jo_child_start forks. The child waits for jo_child_go, which says how it is traced: 'n'
 * with notices, 't' with stops only, 'p' not at all. */
pid_t jo_child_start(const jo_request *r);
void jo_child_go(char how);

/* jo_child_told waits until the child tells which filter it has installed, and returns:
 *
 * 'l': notices. *listener is the child's descriptor to read them from. The child waits for a
 * second jo_child_go: 'n' makes it go on, 'p' makes it end.
 * 's': stops. The same if the child has failed before; then jo_child_failed says why.
 * 'u': none, and the child ends. */
char jo_child_told(int *listener);

/* jo_child_failed returns 0 if the child's execve has succeeded, else an errno. It may only be
 * called when the child has ended or runs its program. */
int jo_child_failed(void);

#endif
