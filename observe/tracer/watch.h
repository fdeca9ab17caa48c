/* watch.h: the CPU that tracer and tree share at first, and the timer. */
#ifndef JO_WATCH_H
#define JO_WATCH_H

#include <sys/types.h>

/* jo_watch_pin keeps tracer and tree, of which there is one process, on one CPU:
 * handing over between two takes twice as long, and twenty times where an idle CPU
 * has to be woken through a hypervisor. After PINNED_MS, or when the tree asks for
 * its CPUs, it is over. */
void jo_watch_pin(pid_t command);
void jo_watch_unpin(void);

/* jo_watch_timer interrupts waitpid every so often as long as that is of use.
 * jo_watch_tick is called after each waitpid, and does what is due. passes: output is
 * passed on. jo_watch_end makes the timer go on: the command has ended, and what is left
 * of the tree gets some time. */
void jo_watch_timer(int passes);
void jo_watch_end(void);
void jo_watch_tick(void);

/* jo_watch_over says whether that time is over. jo_watch_stop ends the timer. */
int jo_watch_over(void);
void jo_watch_stop(void);

#endif
