/* plain.h: a command that nobody watches. */
#ifndef JO_PLAIN_H
#define JO_PLAIN_H

#include <sys/types.h>

/* jo_plain_wait waits for a child's end and returns its status. If the keeper ends
 * before, it ends the child and what that has started, and the tracer. */
int jo_plain_wait(pid_t child);

/* jo_plain_child is called in the child: it is not to outlive the tracer. */
void jo_plain_child(pid_t tracer);

#endif
