/* signal_stack.c: a thread that has no alternate stack for signals gets one of
 * 256 KiB. Go would give it one of 32 in Go's heap, and every handler with
 * SA_ONSTACK would run there from then on. */
#include "signal_stack.h"

#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>

#include "controls.h"

#define STACK_SIZE (256 << 10)
#define GUARD (64 << 10) /* inaccessible memory below the stack; at least one page of any page size */

char *jc_signal_stack_make(void)
{
	stack_t now;
	if (JC_CONTROL == JC_NO_STACK || sigaltstack(NULL, &now) != 0 || (now.ss_flags & SS_DISABLE) == 0)
		return NULL;
	char *p = mmap(NULL, GUARD + STACK_SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return NULL;
	const stack_t own = {.ss_sp = p + GUARD, .ss_size = STACK_SIZE};
	if (mprotect(own.ss_sp, STACK_SIZE, PROT_READ | PROT_WRITE) == 0 && sigaltstack(&own, NULL) == 0)
		return own.ss_sp;
	munmap(p, GUARD + STACK_SIZE);
	return NULL;
}

void jc_signal_stack_free(char *stack)
{
	stack_t now;
	const stack_t none = {.ss_flags = SS_DISABLE};
	if (stack == NULL)
		return;
	if (sigaltstack(NULL, &now) == 0 && now.ss_sp == stack)
		sigaltstack(&none, NULL);
	if (JC_CONTROL != JC_KEEP_STACK)
		munmap(stack - GUARD, GUARD + STACK_SIZE);
}
