/* thread_enter.c: a thread's first call into Go.
 *
 * That call makes Go tie a goroutine, and what belongs to it, to the thread until
 * the thread ends. Three things are done around the first call only, so that no other
 * call pays for them:
 *
 * - The host's signals are blocked. Go would change the thread's mask, and the
 *   goroutine's stack is still too small for a handler to run on.
 * - The goroutine's stack is made to grow (stack.go). A handler that was
 *   installed without SA_ONSTACK runs on whatever stack the thread is on. On
 *   a stack of 8 KiB it would overwrite Go's heap.
 * - A thread that has no alternate stack for signals gets one (signal_stack.c).
 */
#include "thread_enter.h"

#include <signal.h>

#include "controls.h"
#include "signal_stack.h"
#include "thread.h"

void jc_thread_enter(const jc_core *core, uint32_t generation)
{
	sigset_t all, mask;
	jc_thread *t = jc_thread_self();
	if (JC_CONTROL == JC_NO_ENTER || t == NULL || t->entered == generation)
		return;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &mask);
	if (t->stack == NULL)
		t->stack = jc_signal_stack_make();
	core->thread_enter();
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	t->entered = generation;
}
