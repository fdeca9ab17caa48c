/* runtime.c: a Go runtime does not survive fork. The child has its memory, but none
 * of its threads, and the first call that needs one would hang. So the child does
 * not use that runtime. Its first call loads a second copy of the library (second_runtime.c),
 * which has a runtime of its own, and the front goes on with the copy's core.
 * Handles, blobs, keys and the tier in memory belong to the front and stay. */
#include "runtime.h"

#include <stdatomic.h>

#include "controls.h"
#include "second_runtime.h"
#include "locks.h"
#include "log.h"
#include "observer.h"
#include "thread.h"
#include "thread_enter.h"

/* The core of this process; NULL in a child that has none yet. */
static const jc_core *_Atomic current;
static _Atomic uint32_t generation = 1;
static _Atomic int forked;
static _Atomic int failed; /* this process cannot have a core */
static char failure[256];  /* why not; under jc_start_lock */

/* How long a thread waits for the one that loads a copy, which takes milliseconds. A
 * wait without end could be a deadlock: a thread that calls from a library's
 * constructor holds the loader's lock, which loading the copy needs. */
enum { PATIENCE_MS = 5000 };

static jc_front front = {.log = jc_log_push, .observer = ""};

void jc_core_fork_prepare(void)
{
	const jc_core *core = atomic_load(&current);
	if (core != NULL)
		core->fork_prepare();
}

void jc_core_fork_parent(void)
{
	const jc_core *core = atomic_load(&current);
	if (core != NULL)
		core->fork_parent();
}

void jc_core_fork_child(void)
{
	const jc_core *core = atomic_load(&current);
	if (core != NULL)
		core->fork_child();
	atomic_store(&current, NULL);
	atomic_store(&forked, 1);
	atomic_fetch_add(&generation, 1);
	failed = 0;
	front.stopped = 0;
}

int jc_core_stopped(void) { return front.stopped; }

uint32_t jc_core_generation(void) { return atomic_load_explicit(&generation, memory_order_relaxed); }

const jc_core *jc_core_running(void)
{
	const jc_core *core = atomic_load_explicit(&current, memory_order_acquire);
	if (core != NULL)
		jc_thread_enter(core, jc_core_generation());
	return core;
}

static const jc_core *start(void)
{
	if (!jc_mutex_lock_within(&jc_start_lock, PATIENCE_MS))
		return NULL;
	const jc_core *core = atomic_load(&current);
	if (core == NULL && !failed) {
		core = &jitcache_private_core;
		front.observer = jc_observer_path();
		if (atomic_load(&forked) && JC_CONTROL != JC_NO_COPY)
			core = jc_library_copy(jc_core_generation(), failure, sizeof failure);
		if (core != NULL)
			jc_thread_enter(core, jc_core_generation());
		if (core == NULL || core->start(&front) != JITCACHE_OK) {
			failed = 1;
			core = NULL;
		} else {
			atomic_store(&current, core);
		}
	}
	jc_mutex_unlock(&jc_start_lock);
	return core;
}

const jc_core *jc_core_get(void)
{
	const jc_core *core = jc_core_running();
	return core != NULL ? core : start();
}

int32_t jc_no_core(void)
{
	jc_miss(JITCACHE_ERR_FORK, JITCACHE_REASON_FORK);
	return jc_fail(JITCACHE_ERR_FORK, "no runtime in this forked process: %s",
		failed ? failure : "another thread has not loaded it in time");
}
