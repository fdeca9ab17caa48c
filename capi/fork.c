/* fork.c: what is done around fork. runtime.c decides which core a child has. */
#include <pthread.h>

#include "../core/lockfile/held.h"
#include "cache.h"
#include "controls.h"
#include "second_runtime.h"
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
	jc_core_fork_prepare();
}

static void parent(void)
{
	if (JC_CONTROL == JC_NO_LOCKS)
		return;
	jc_core_fork_parent();
	jc_caches_fork_parent();
	jc_locks_fork_parent();
}

static void child(void)
{
	jc_rank_forked();
	jc_core_fork_child();
	if (JC_CONTROL != JC_NO_LOCKS) {
		jc_caches_fork_child();
		jc_locks_fork_child();
	}
	/* The parent's lock files: an open one would keep its lease alive. */
	jc_held_close();
}

/* A copy does not need the handlers, because its front is not used. Nor could it
 * register them: from glibc 2.28 to 2.35 a fork that waits in prepare holds a lock
 * that pthread_atfork takes, and a copy is loaded under a lock that prepare waits
 * for. */
__attribute__((constructor)) static void watch_fork(void)
{
	if (!jc_library_is_copy() || JC_CONTROL == JC_COPY_WATCHES)
		pthread_atfork(prepare, parent, child);
}
