/* fork.c: what is done around fork. Which core a child has is runtime.c's to say. */
#include <pthread.h>

#include "../core/lockfile/held.h"
#include "cache.h"
#include "controls.h"
#include "locks.h"
#include "runtime.h"

static void prepare(void)
{
	if (JC_CONTROL == JC_NO_LOCKS)
		return;
	jc_locks_fork_prepare();
	jc_rank_fork_begin();
	jc_caches_fork_prepare();
	jc_rank_fork_end();
}

static void parent(void)
{
	if (JC_CONTROL == JC_NO_LOCKS)
		return;
	jc_caches_fork_parent();
	jc_locks_fork_parent();
}

static void child(void)
{
	if (JC_CONTROL != JC_NO_LOCKS) {
		jc_rank_forked();
		jc_caches_fork_child();
		jc_locks_fork_child();
	}
	jc_core_forget();
	/* The parent's lock files: an open one would keep its lease alive. */
	jc_held_close();
}

__attribute__((constructor)) static void watch_fork(void) { pthread_atfork(prepare, parent, child); }
