/* watch.h: the CPU that tracer and tree share at first, the host that must not be
 * outlived, and the timer. */
#ifndef JO_WATCH_H
#define JO_WATCH_H

#include <pthread.h>
#include <sys/types.h>

/* jo_watch_pin keeps tracer and tree, of which there is one process, on one CPU:
 * handing over between two takes twice as long, and twenty times where an idle CPU
 * has to be woken through a hypervisor. After PINNED_MS, or when the tree asks for
 * its CPUs, it is over. */
void jo_watch_pin(pid_t command);
void jo_watch_unpin(void);

/* jo_watch_host ends the tracer, and with it the tree, when a process ends or
 * nobody can read done any more. */
void jo_watch_host(pid_t host, int done);

/* jo_watch_thread starts a thread that takes no signals: they have to interrupt
 * waitpid. 0: it cannot be. */
int jo_watch_thread(pthread_t *thread, void *(*f)(void *));

/* jo_watch_timer interrupts waitpid every TICK_MS, jo_watch_tick is called then;
 * passes: output is passed on. */
void jo_watch_timer(int passes);
void jo_watch_tick(void);

#endif
