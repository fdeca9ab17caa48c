/* watch.h: the CPU that tracer and tree share at first, and the timer. */
#ifndef JO_WATCH_H
#define JO_WATCH_H

#include <sys/types.h>

#include "process.h"

/* jo_watch_pin keeps tracer and tree, of which there is one process, on one CPU:
 * handing over between two takes twice as long, and twenty times where an idle CPU
 * has to be woken through a hypervisor. After PINNED_MS, or when the tree asks for
 * its CPUs, it is over: jo_watch_unpin gives all that are known their own CPUs, and
 * jo_watch_born one that was forked before and came after. */
void jo_watch_pin(pid_t command);
void jo_watch_unpin(void);
void jo_watch_born(pid_t id);

/* jo_watch_asked is called before a process is told on which CPUs another one runs, or sets
 * that: whom by its id, 0 for itself. Neither is shown the pin, and what is set is left. */
void jo_watch_asked(jo_process *p, pid_t whom);

/* jo_watch_timer interrupts waitpid every so often as long as that is of use.
 * jo_watch_tick is called after each waitpid, does what is due, and says whether anything
 * was. passes: output is passed on. jo_watch_end makes the timer go on: the command has
 * ended, and what is left of the tree gets some time. jo_watch_wait makes it go on to the
 * next tick: somebody waits for that. */
void jo_watch_timer(int passes);
void jo_watch_end(void);
void jo_watch_wait(void);
int jo_watch_tick(void);

/* jo_watch_over says whether that time is over. jo_watch_stop ends the timer, but for who
 * waits. */
int jo_watch_over(void);
void jo_watch_stop(void);

#endif
