/* cache.c: opens and closes caches, and what is left of one in a forked child. */
#include "cache.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "controls.h"
#include "handles.h"
#include "locks.h"
#include "log.h"
#include "options.h"
#include "runtime.h"
#include "thread.h"

static jc_cache *caches; /* under jc_caches_lock */

static void *reopen(jc_cache *c, const jc_core *core, int32_t *status)
{
	void *result = NULL;
	jc_mutex_lock(&jc_reopen_lock);
	if (atomic_load(&c->generation) == jc_core_generation()) {
		result = atomic_load(&c->core);
	} else {
		jc_opened opened = {0};
		jc_out out = {0};
		*status = jc_finish(core->open(c->settings, c->nsettings, c->memory, &opened, &out), &out);
		free(opened.entries);
		if (*status == JITCACHE_OK) {
			result = opened.core;
			atomic_store(&c->core, result);
			atomic_store(&c->generation, jc_core_generation());
		}
	}
	jc_mutex_unlock(&jc_reopen_lock);
	return result;
}

void *jc_cache_core(jc_cache *c, const jc_core *core, int32_t *status)
{
	void *cache = atomic_load_explicit(&c->generation, memory_order_acquire) == jc_core_generation()
	                      ? atomic_load_explicit(&c->core, memory_order_relaxed)
	                      : reopen(c, core, status);
	if (cache != NULL)
		jc_misses_report(&c->misses, core, cache, jc_cache_why(c));
	return cache;
}

/* to_write returns the core's half of a cache, NULL if the cache has no counters to
 * write. In a forked child only a cache that was used there is opened again. */
static void *to_write(jc_cache *c, const jc_core *core)
{
	int32_t status;
	int counted = jc_misses_any(&c->misses) || (c->memory != NULL && jc_memory_counted(c->memory));
	if (!counted && atomic_load(&c->generation) != jc_core_generation())
		return NULL;
	return jc_cache_core(c, core, &status);
}

static void destroy(void *object, jc_extra *extra)
{
	(void)extra;
	jc_cache *c = object;
	const jc_core *core = jc_core_running();
	void *cache = core != NULL ? to_write(c, core) : NULL;
	if (cache != NULL)
		core->close(cache);
	jc_mutex_lock(&jc_caches_lock);
	for (jc_cache **p = &caches; *p != NULL; p = &(*p)->next)
		if (*p == c) {
			*p = c->next;
			break;
		}
	jc_memory_free(c->memory);
	jc_mutex_unlock(&jc_caches_lock);
	free(c->entries);
	free(c->settings);
	free(c);
}

void jc_cache_maintain(jc_cache *c, const uint8_t *id, int due)
{
	/* Not worth starting a runtime in a forked child. */
	const jc_core *core = jc_core_running();
	int32_t status;
	void *cache = core != NULL ? jc_cache_core(c, core, &status) : NULL;
	if (cache != NULL)
		core->maintain(cache, (uint8_t *)id, due);
}

/* hold_all adds a reference to every cache. It returns how many there are, and
 * their objects and handles in malloc'd memory. */
static size_t hold_all(jc_cache ***all)
{
	size_t n = 0, held = 0;
	jc_mutex_lock(&jc_caches_lock);
	for (jc_cache *c = caches; c != NULL; c = c->next)
		n++;
	*all = calloc(n + 1, sizeof **all);
	for (jc_cache *c = caches; c != NULL && *all != NULL; c = c->next)
		if (jc_handle_hold(c->handle))
			(*all)[held++] = c;
	jc_mutex_unlock(&jc_caches_lock);
	return held;
}

/* leave makes every cache write its counters, and do whatever else it does before
 * the process ends; and so does the core. It holds no lock meanwhile: opening a cache again takes a lock
 * that comes before the list's. */
static void leave(const jc_core *core)
{
	jc_cache **all;
	size_t n = hold_all(&all);
	if (JC_CONTROL == JC_OLD_ORDER)
		jc_mutex_lock(&jc_caches_lock);
	for (size_t i = 0; i < n; i++) {
		void *cache = to_write(all[i], core);
		if (cache != NULL)
			core->leave(cache);
	}
	if (JC_CONTROL == JC_OLD_ORDER)
		jc_mutex_unlock(&jc_caches_lock);
	for (size_t i = 0; i < n; i++)
		jc_handle_leave(all[i]->handle);
	free(all);
	core->leave_process();
}

static void at_exit(void)
{
	/* In a forked child that has not used the library there is nothing to
	 * write, and nothing to write it with. */
	const jc_core *core = jc_core_running();
	if (core != NULL)
		leave(core);
	while (JC_CONTROL == JC_TEARS_DOWN && caches != NULL)
		destroy(caches, NULL);
	for (int i = 0; JC_CONTROL == JC_LINGERS && i < 150 && jc_handles_live() > 0; i++)
		usleep(100000);
}

static pthread_once_t exit_once = PTHREAD_ONCE_INIT;

static void register_exit(void) { atexit(at_exit); }

int32_t jitcache_open(const jitcache_options *options, jitcache_cache **out)
{
	jc_thread_unwind();
	if (out == NULL)
		return jc_fail(JITCACHE_ERR_ARGUMENT, "cache: NULL");
	*out = NULL;
	const jc_core *core = jc_core_get();
	if (core == NULL)
		return jc_no_core();
	jc_cache *c = calloc(1, sizeof *c);
	if (c == NULL)
		return jc_fail(JITCACHE_ERR_MEMORY, "cache: no memory");
	int32_t status = jc_settings(JC_HANDLE(options), &c->settings, &c->nsettings);
	if (status != JITCACHE_OK) {
		free(c);
		return status;
	}
	jc_opened opened = {0};
	jc_out result = {0};
	status = jc_finish(core->open(c->settings, c->nsettings, NULL, &opened, &result), &result);
	if (status != JITCACHE_OK) {
		free(c->settings);
		free(c);
		jc_log_drain();
		return status;
	}
	c->memory = opened.memory;
	c->lookups = opened.lookups;
	c->more = opened.more;
	c->entries = opened.entries;
	atomic_init(&c->core, opened.core);
	atomic_init(&c->generation, jc_core_generation());
	c->handle = jc_handle_new(JC_CACHE, c, (jc_extra){0}, destroy);
	if (c->handle == 0) {
		destroy(c, NULL);
		return jc_fail(JITCACHE_ERR_MEMORY, "cache: no memory");
	}
	jc_mutex_lock(&jc_caches_lock);
	c->next = caches;
	caches = c;
	jc_mutex_unlock(&jc_caches_lock);
	pthread_once(&exit_once, register_exit);
	*out = JC_POINTER(jitcache_cache, c->handle);
	jc_log_drain();
	return JITCACHE_OK;
}

int32_t jitcache_close(jitcache_cache *cache)
{
	if (!jc_handle_close(JC_HANDLE(cache), JC_CACHE))
		return jc_bad_handle(cache, "cache");
	jc_log_drain();
	return JITCACHE_OK;
}

void jc_caches_fork_prepare(void)
{
	for (jc_cache *c = caches; c != NULL; c = c->next)
		if (c->memory != NULL)
			jc_memory_fork_prepare(c->memory);
}

void jc_caches_fork_parent(void)
{
	for (jc_cache *c = caches; c != NULL; c = c->next)
		if (c->memory != NULL)
			jc_memory_fork_parent(c->memory);
}

void jc_caches_fork_child(void)
{
	for (jc_cache *c = caches; c != NULL; c = c->next) {
		jc_misses_forget(&c->misses);
		if (c->memory != NULL)
			jc_memory_fork_child(c->memory);
	}
}
