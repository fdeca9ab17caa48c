/* child.h: the command, from fork to execve. */
#ifndef JO_CHILD_H
#define JO_CHILD_H

#include <sys/types.h>

#include "request.h"

/* jo_child_prepare notes how the tracer was started, before the tracer changes it: the
 * descriptors and the signal dispositions. */
void jo_child_prepare(const jo_request *r);

/* jo_child_start forks. The child waits for jo_child_go, which says how it is traced: 'n'
 * with notices, 't' with stops only, 'p' not at all. */
pid_t jo_child_start(const jo_request *r);
void jo_child_go(char how);

/* jo_child_told returns which filter the child has installed: 'l' notices, which are read
 * from a descriptor of the child, and the child waits for a second jo_child_go, 'n' to go
 * on or 'p' to end; 's' stops; 'u' none, and the child ends. */
char jo_child_told(int *listener);

/* jo_child_failed returns 0 if the child's execve has succeeded, else an errno. It is called
 * when the child has ended or runs its program. */
int jo_child_failed(void);

#endif
