/* enter.c: a thread's first call into Go.
 *
 * With it Go ties a goroutine and what belongs to it to the thread, until the
 * thread ends. Three things are done around that, once, so that no other call
 * pays for them:
 *
 * - The host's signals are blocked. Go would change the thread's mask, and the
 *   goroutine's stack is too small yet for a handler to run on.
 * - The goroutine's stack is made to grow (room.go). A handler that was
 *   installed without SA_ONSTACK runs on whatever stack the thread is on. On
 *   one of 8 KiB it would overwrite Go's heap.
 * - A thread that has no alternate stack for signals gets one of 256 KiB. Go
 *   would give it one of 32 in Go's heap, and every handler with SA_ONSTACK
 *   would run there from then on.
 */
#include "front.h"

#include <signal.h>
#include <sys/mman.h>

#define STACK_SIZE (256 << 10)
#define GUARD (64 << 10) /* a page, however large pages are: beyond the stack is nobody's memory */

static void make_stack(jc_thread *t)
{
	stack_t now;
	if (JC_CONTROL == JC_NO_STACK || sigaltstack(NULL, &now) != 0 || (now.ss_flags & SS_DISABLE) == 0)
		return;
	char *p = mmap(NULL, GUARD + STACK_SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return;
	const stack_t own = {.ss_sp = p + GUARD, .ss_size = STACK_SIZE};
	if (mprotect(own.ss_sp, STACK_SIZE, PROT_READ | PROT_WRITE) == 0 && sigaltstack(&own, NULL) == 0)
		t->stack = own.ss_sp;
	else
		munmap(p, GUARD + STACK_SIZE);
}

void jc_stack_free(jc_thread *t)
{
	stack_t now;
	const stack_t none = {.ss_flags = SS_DISABLE};
	if (t->stack == NULL)
		return;
	if (sigaltstack(NULL, &now) == 0 && now.ss_sp == t->stack)
		sigaltstack(&none, NULL);
	if (JC_CONTROL != JC_KEEP_STACK)
		munmap(t->stack - GUARD, GUARD + STACK_SIZE);
	t->stack = NULL;
}

void jc_core_meet(const jc_core *core)
{
	sigset_t all, mask;
	jc_thread *t = jc_thread_self();
	if (JC_CONTROL == JC_NO_MEETING || t == NULL || t->met == jc_core_generation())
		return;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &mask);
	if (t->stack == NULL)
		make_stack(t);
	core->enter();
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	t->met = jc_core_generation();
}
