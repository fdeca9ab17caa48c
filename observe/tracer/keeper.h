/* keeper.h: the tracer's parent: observe/spawn.c, which ends with the host, or
 * front.c. */
#ifndef JO_KEEPER_H
#define JO_KEEPER_H

/* jo_keeper_start notes which process the keeper is. From then on its end interrupts system
 * calls with EINTR, repeatedly, instead of killing the tracer at once. jo_keeper_child undoes
 * that in a child. */
void jo_keeper_start(void);
void jo_keeper_child(void);

/* jo_keeper_gone reports whether the keeper has ended. The tree must be ended too then. */
int jo_keeper_gone(void);

/* jo_keeper_leave ends the keeper, so that its host need not wait (a front ends itself), and
 * lets the tracer live on. */
void jo_keeper_leave(void);

#endif
