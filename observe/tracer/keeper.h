/* keeper.h: the tracer's parent (observe/spawn.c), which ends with the host. */
#ifndef JO_KEEPER_H
#define JO_KEEPER_H

/* jo_keeper_start notes who the keeper is. From then on its end interrupts system calls
 * with EINTR, again and again, instead of ending the tracer at once. jo_keeper_child
 * undoes in a child what that needs. */
void jo_keeper_start(void);
void jo_keeper_child(void);

/* jo_keeper_gone says whether it has ended: the tree has to be ended too. */
int jo_keeper_gone(void);

/* jo_keeper_leave ends the keeper, for its host to have done with it, and lets the
 * tracer live on. */
void jo_keeper_leave(void);

#endif
