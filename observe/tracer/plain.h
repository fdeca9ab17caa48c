/* plain.h: a command that runs unobserved. */
#ifndef JO_PLAIN_H
#define JO_PLAIN_H

#include <sys/types.h>

/* jo_plain_wait waits for a child's end and returns its status. If the keeper ends first, it
 * ends the child, its descendants and the tracer. */
int jo_plain_wait(pid_t child);

/* jo_plain_child is called in the child, which must not outlive the tracer. */
void jo_plain_child(pid_t tracer);

#endif
