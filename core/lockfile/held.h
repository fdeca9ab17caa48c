/* held.h: the locks that a process holds, for C code after fork.
 *
 * flock belongs to the open file, which a forked child shares: the child of a
 * process that holds a lease would keep the lock after its parent has died.
 * gofrs/flock does not show its descriptors, so a child finds them by the paths
 * that they lead to. These functions are safe in a handler of pthread_atfork: they
 * make raw system calls, and need no allocation and no lock.
 */
#ifndef JC_HELD_H
#define JC_HELD_H

/* jc_held_rise is called before a lock file is opened, and jc_held_fall after it
 * was closed. */
void jc_held_rise(void);
void jc_held_fall(void);

/* jc_held_count returns how many locks are held or being taken. */
int jc_held_count(void);

/* jc_held_close closes every descriptor of a lock file in this process, if any lock
 * was held, and sets the count to zero. For a forked child. */
void jc_held_close(void);

/* jc_held_give_up gives up every lock of this process, but leaves the descriptors
 * open. For a process whose core has stopped working: the process lives on, and
 * others would wait for its locks. */
void jc_held_give_up(void);

#endif
