/* enter.c: a thread's first call into Go.
 *
 * With it Go ties a goroutine and what belongs to it to the thread, until the
 * thread ends. Two things are done around that, once, so that no other call
 * pays for them:
 *
 * - The host's signals are blocked. Go would change the thread's mask, and the
 *   goroutine's stack is too small yet for a handler to run on.
 * - The goroutine's stack is made to grow (room.go). A handler that was
 *   installed without SA_ONSTACK runs on whatever stack the thread is on. On
 *   one of 8 KiB it would overwrite Go's heap.
 */
#include "front.h"

#include <signal.h>

void jc_core_meet(const jc_core *core)
{
	sigset_t all, mask;
	jc_thread *t = jc_thread_self();
	if (JC_CONTROL == JC_NO_MEETING || t == NULL || t->met == jc_core_generation())
		return;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &mask);
	core->enter();
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	t->met = jc_core_generation();
}
