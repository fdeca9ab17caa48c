/* held.h: which locks a process holds, as C sees them after fork.
 *
 * flock belongs to the open file, which a forked child shares: the child of a
 * process that holds a lease would keep the lock alive after its parent has
 * died. gofrs/flock does not show its descriptors, so a child finds them by
 * where they point. These functions are safe in a handler of pthread_atfork:
 * raw system calls, no allocation, no lock.
 */
#ifndef JC_HELD_H
#define JC_HELD_H

/* jc_held_rise is called before a lock file is opened, jc_held_fall after it
 * has been closed. */
void jc_held_rise(void);
void jc_held_fall(void);

/* jc_held_count returns how many are held or being taken. */
int jc_held_count(void);

/* jc_held_close closes every descriptor of this process that points to a lock
 * file, if any lock was held, and sets the count to zero. For a forked child. */
void jc_held_close(void);

/* jc_held_give_up gives up every lock of this process and leaves the
 * descriptors open. For a process whose core has stopped working: it lives on,
 * and others would wait for what it holds. */
void jc_held_give_up(void);

#endif
