/* keeper.h: the keeper is the tracer's parent. It is either a process of observe/spawn.c, which
 * ends with the host, or the front (front.h). */
#ifndef JO_KEEPER_H
#define JO_KEEPER_H

/* jo_keeper_start notes which process the keeper is. From then on the keeper's end does not kill
 * the tracer at once; it interrupts the tracer's system calls with EINTR, repeatedly. So does a
 * SIGUSR2 that the keeper sends to end the tracer.
 * jo_keeper_child undoes that in a child. */
void jo_keeper_start(void);
void jo_keeper_child(void);

/* jo_keeper_gone reports whether the keeper has ended, or wants the tracer to end. The tree must
 * then be ended too. */
int jo_keeper_gone(void);

/* jo_keeper_died reports whether it has ended. A tracer that it ends is waited for. */
int jo_keeper_died(void);

/* jo_keeper_leave ends the keeper, so that its host need not wait (a front ends itself), and
 * lets the tracer live on. */
void jo_keeper_leave(void);

#endif
