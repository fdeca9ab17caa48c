/* watch.h: the CPU that the tracer and the tree share at first, and the timer. */
#ifndef JO_WATCH_H
#define JO_WATCH_H

#include <stdint.h>
#include <sys/types.h>

#include "process.h"

/* jo_watch_pin keeps the tracer and the tree, which has one process so far, on one CPU.
 * Handing over between two CPUs takes twice as long, and twenty times as long if an idle CPU
 * has to be woken through a hypervisor. The pin ends after PINNED_MS, or when the tree asks
 * for its CPUs: jo_watch_unpin gives all known processes their own CPUs, and jo_watch_born
 * does so for one that was forked before and became known later. */
void jo_watch_pin(pid_t command);
void jo_watch_unpin(void);
void jo_watch_born(pid_t id);

/* jo_watch_asked is called before p reads or sets the CPUs of the process with the id whom, 0 for
 * itself. The tree must not see the pin, and the tracer leaves alone CPUs that the tree sets. */
void jo_watch_asked(jo_process *p, pid_t whom);

/* jo_watch_timer starts a timer that interrupts waitpid while there is a use for it; passes tells
 * that output is passed on. jo_watch_tick is called after each waitpid, does what is due, and
 * reports whether a tick was due. jo_watch_end keeps the timer going after the command's end, to give
 * the rest of the tree some time, and working_ms if it works. jo_watch_wait keeps it going until the next tick, because
 * something waits for that. */
void jo_watch_timer(int passes);
void jo_watch_end(uint32_t working_ms);
void jo_watch_wait(void);
int jo_watch_tick(void);

/* jo_watch_over reports whether the time that jo_watch_end gave is over; a rest that works is
 * given more. asks tells whether a process waits for the tracer's answer, which is work.
 * jo_watch_saw tells that the tree did something that the tracer is told, which is work too. Any
 * thread may call it. jo_watch_stop ends the timer, unless something waits for it. */
int jo_watch_over(int (*asks)(void));
void jo_watch_saw(void);
void jo_watch_stop(void);

#endif
