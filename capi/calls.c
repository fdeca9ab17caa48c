/* calls.c: the public functions on an open cache. */
#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "blob_handle.h"
#include "cache.h"
#include "controls.h"
#include "core.h"
#include "entry.h"
#include "handles.h"
#include "key.h"
#include "log.h"
#include "uncounted_misses.h"
#include "runtime.h"
#include "thread.h"

/* call is one call in progress: the handles that it has entered, and the core. */
typedef struct call {
	jc_handle cache_handle, key_handle;
	jc_cache *c;
	const uint8_t *sealed;
	size_t nsealed;
	const jc_core *core;
	void *cache; /* the core's half */
} call;

/* from_memory looks into the tier in memory, without the core. */
static jc_blob *from_memory(jc_cache *c, const uint8_t *id)
{
	if (!c->lookups)
		return NULL;
	int due;
	jc_blob *b = jc_memory_get(c->memory, id, &due);
	if (b != NULL && due != 0)
		jc_cache_maintain(c, id, due);
	return b;
}

/* begin enters the cache and the key. If it does not return OK, neither is entered.
 *
 * If hit is not NULL, begin looks into memory first. If the entry is there, *hit
 * gets it and only the cache is entered: a hit in memory is too short to pay for
 * more. That is safe, because the host must not free a key while it uses it, and a
 * frozen key does not change. */
static int32_t begin(call *a, jitcache_cache *cache, jitcache_key *key, jc_blob **hit)
{
	int32_t status = JITCACHE_OK;
	a->cache_handle = JC_HANDLE(cache);
	a->key_handle = 0;
	a->c = jc_handle_enter(a->cache_handle, JC_CACHE);
	if (a->c == NULL)
		return jc_bad_handle(cache, "cache");
	jc_key *k = jc_handle_peek(JC_HANDLE(key), JC_KEY);
	a->sealed = k != NULL ? jc_key_sealed(k) : NULL;
	if (hit != NULL && a->sealed != NULL && (*hit = from_memory(a->c, a->sealed + JC_SEALED_ID)) != NULL)
		return JITCACHE_OK;
	if (jc_handle_enter(JC_HANDLE(key), JC_KEY) == NULL) {
		jc_handle_leave(a->cache_handle);
		return jc_bad_handle(key, "key");
	}
	a->key_handle = JC_HANDLE(key);
	int frozen = a->sealed != NULL;
	a->sealed = jc_key_seal(k, &a->nsealed, &status);
	if (a->sealed == NULL) {
		jc_handle_leave(a->key_handle);
		jc_handle_leave(a->cache_handle);
	} else if (hit != NULL && !frozen) {
		*hit = from_memory(a->c, a->sealed + JC_SEALED_ID);
	}
	return status;
}

/* find_core finds the core's half of the cache. */
static int32_t find_core(call *a)
{
	int32_t status = JITCACHE_OK;
	a->core = jc_core_get();
	if (a->core == NULL)
		return jc_no_core();
	a->cache = jc_cache_core(a->c, a->core, &status);
	return status;
}

static int32_t end(call *a, int32_t status)
{
	if (a->key_handle != 0)
		jc_handle_leave(a->key_handle);
	jc_handle_leave(a->cache_handle);
	jc_log_drain();
	return status;
}

/* begin_cache is begin for calls without a key, and finds the core. */
static int32_t begin_cache(call *a, jitcache_cache *cache)
{
	*a = (call){.cache_handle = JC_HANDLE(cache)};
	a->c = jc_handle_enter(a->cache_handle, JC_CACHE);
	if (a->c == NULL)
		return jc_bad_handle(cache, "cache");
	int32_t status = find_core(a);
	if (status != JITCACHE_OK)
		jc_handle_leave(a->cache_handle);
	return status;
}

/* now returns the time that jc_cache.quiet is compared with, in nanoseconds. The clock is
 * exact to some milliseconds, and four times as fast as the exact one, which would slow
 * a miss down. */
static int64_t now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* goes_on says whether the core looks beyond the directories for an entry. */
static int goes_on(const jc_cache *c)
{
	if (!c->more || JC_CONTROL == JC_NO_LAYERS)
		return 0;
	int64_t quiet = atomic_load_explicit(&c->quiet, memory_order_relaxed);
	return quiet == 0 || (now() >= quiet && JC_CONTROL != JC_STAYS_QUIET);
}

/* note_quiet notes for how long the core's remotes are off, which a lookup has returned. */
static void note_quiet(jc_cache *c, const jc_out *out)
{
	if (out->quiet_ns <= 0)
		return;
	atomic_store_explicit(&c->quiet_why, out->quiet_why, memory_order_relaxed);
	atomic_store_explicit(&c->quiet, now() + out->quiet_ns, memory_order_relaxed);
}

/* open_file opens the entry's file, in the own directory or a layer, unless the core
 * must do so. It returns 0 if the lookup ends here: there is no file, the core would not
 * look beyond the directories, and the miss has been counted. */
static int open_file(call *a, jc_file *file)
{
	const uint8_t *id = a->sealed + JC_SEALED_ID;
	*file = (jc_file){.fd = -1};
	if (a->c->entries == NULL || jc_core_stopped())
		return 1;
	if (a->c->memory != NULL)
		file->ticket = jc_memory_ticket(a->c->memory, id);
	jc_entry_open(a->c->entries, id, file);
	return file->fd != -ENOENT || goes_on(a->c) || !jc_misses_add(&a->c->misses, a->sealed + JC_SEALED_KIND);
}

static void close_file(const jc_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
}

/* lookup is jitcache_get without the handle. It leaves the call open; if it returns OK,
 * *b has a reference for the caller. If it has entered nothing, a->cache_handle is 0. */
static int32_t lookup(call *a, jitcache_cache *cache, jitcache_key *key, jc_blob **b)
{
	int32_t status = begin(a, cache, key, b);
	if (status != JITCACHE_OK) {
		a->cache_handle = 0;
		return status;
	}
	jc_file file;
	if (*b != NULL)
		return status;
	if (!open_file(a, &file))
		return jc_miss(JITCACHE_MISS, jc_cache_why(a->c));
	if ((status = find_core(a)) == JITCACHE_OK) {
		jc_out out = {0};
		status = jc_finish(a->core->get(a->cache, (uint8_t *)a->sealed, a->nsealed, &file, b, &out), &out);
		note_quiet(a->c, &out);
	}
	close_file(&file);
	return status;
}

int32_t jitcache_get(jitcache_cache *cache, jitcache_key *key, jitcache_blob **blob)
{
	call a;
	jc_blob *b = NULL;
	jc_thread_unwind();
	if (blob == NULL)
		return jc_fail(JITCACHE_ERR_ARGUMENT, "blob: NULL");
	*blob = NULL;
	int32_t status = lookup(&a, cache, key, &b);
	if (b != NULL)
		status = jc_blob_handle(b, a.cache_handle, blob);
	return a.cache_handle == 0 ? status : end(&a, status);
}

int32_t jitcache_get_data(
	jitcache_cache *cache, jitcache_key *key, jitcache_blob **blob, const void **data, size_t *size)
{
	call a;
	jc_blob *b = NULL;
	jc_thread_unwind();
	if (blob == NULL || data == NULL || size == NULL)
		return jc_fail(JITCACHE_ERR_ARGUMENT, "blob: NULL");
	*blob = NULL;
	int32_t status = lookup(&a, cache, key, &b);
	if (b != NULL) {
		const void *p = b->data;
		size_t n = b->size;
		status = jc_blob_handle(b, a.cache_handle, blob);
		if (status == JITCACHE_OK) {
			*data = p;
			*size = n;
		}
	}
	return a.cache_handle == 0 ? status : end(&a, status);
}

int32_t jitcache_get_into(jitcache_cache *cache, jitcache_key *key, void *buffer, size_t capacity, size_t *size)
{
	call a;
	jc_blob *b = NULL;
	jc_thread_unwind();
	if (size == NULL || (buffer == NULL && capacity > 0))
		return jc_fail(JITCACHE_ERR_ARGUMENT, "buffer: NULL");
	*size = 0;
	int32_t status = begin(&a, cache, key, &b);
	jc_file file = {.fd = -1};
	if (status != JITCACHE_OK)
		return status;
	if (b != NULL) {
		*size = b->size;
		if (b->size <= capacity)
			memcpy(buffer, b->data, b->size);
		else
			status = JITCACHE_TOO_SMALL;
		jc_blob_release(b);
	} else if (!open_file(&a, &file)) {
		status = jc_miss(JITCACHE_MISS, jc_cache_why(a.c));
	} else if ((status = find_core(&a)) == JITCACHE_OK) {
		jc_out out = {0};
		status = a.core->get_into(a.cache, (uint8_t *)a.sealed, a.nsealed, &file, buffer, capacity, size, &out);
		if (status != JITCACHE_OK && status != JITCACHE_TOO_SMALL)
			jc_finish(status, &out);
		note_quiet(a.c, &out);
	}
	close_file(&file);
	return end(&a, status);
}

/* put stores an entry. took is as in jc_core's put. */
static int32_t put(jitcache_cache *cache, jitcache_key *key, const void *data, size_t size, const char *attributes,
	uint32_t flags, int64_t took)
{
	call a;
	jc_thread_unwind();
	if (data == NULL && size > 0)
		return jc_fail(JITCACHE_ERR_ARGUMENT, "data: NULL");
	if ((flags & ~JITCACHE_REPLACE) != 0)
		return jc_fail(JITCACHE_ERR_ARGUMENT, "put: unknown flags");
	int32_t status = begin(&a, cache, key, NULL);
	if (status != JITCACHE_OK)
		return status;
	if ((status = find_core(&a)) == JITCACHE_OK) {
		jc_out out = {0};
		status = a.core->put(a.cache, (uint8_t *)a.sealed, a.nsealed, (uint8_t *)data, size, (char *)attributes,
			flags, took, &out);
		jc_finish(status, &out);
	}
	return end(&a, status);
}

int32_t jitcache_put(
	jitcache_cache *cache, jitcache_key *key, const void *data, size_t size, const char *attributes, uint32_t flags)
{
	return put(cache, key, data, size, attributes, flags, -1);
}

int32_t jitcache_put_compiled(jitcache_cache *cache, jitcache_key *key, const void *data, size_t size,
	const char *attributes, uint32_t flags, uint64_t nanoseconds)
{
	int64_t took = nanoseconds > INT64_MAX ? INT64_MAX : (int64_t)nanoseconds;
	return put(cache, key, data, size, attributes, flags, took);
}

int32_t jitcache_remove(jitcache_cache *cache, jitcache_key *key)
{
	call a;
	jc_thread_unwind();
	int32_t status = begin(&a, cache, key, NULL);
	if (status != JITCACHE_OK)
		return status;
	if ((status = find_core(&a)) == JITCACHE_OK) {
		jc_out out = {0};
		status = jc_finish(a.core->remove(a.cache, (uint8_t *)a.sealed, a.nsealed, &out), &out);
	}
	return end(&a, status);
}

/* as_json ends a call that has made a report, and stores it in *json if json is not
 * NULL. */
static int32_t as_json(call *a, int32_t status, jc_blob *b, jitcache_blob **json)
{
	if (b != NULL && json != NULL)
		status = jc_blob_handle(b, 0, json);
	else if (b != NULL)
		jc_blob_release(b);
	return end(a, status);
}

int32_t jitcache_explain(jitcache_cache *cache, jitcache_key *key, jitcache_blob **json)
{
	call a;
	jc_out out = {0};
	jc_blob *b = NULL;
	jc_thread_unwind();
	if (json == NULL)
		return jc_fail(JITCACHE_ERR_ARGUMENT, "json: NULL");
	*json = NULL;
	int32_t status = begin(&a, cache, key, NULL);
	if (status != JITCACHE_OK)
		return status;
	if ((status = find_core(&a)) == JITCACHE_OK)
		status = jc_finish(a.core->explain(a.cache, (uint8_t *)a.sealed, a.nsealed, &b, &out), &out);
	return as_json(&a, status, b, json);
}

int32_t jitcache_used(jitcache_cache *cache, jitcache_key *key, uint64_t n)
{
	call a;
	jc_thread_unwind();
	int32_t status = begin(&a, cache, key, NULL);
	if (status != JITCACHE_OK)
		return status;
	int due = 0, found = 0;
	if (a.c->lookups)
		found = jc_memory_used(a.c->memory, a.sealed + JC_SEALED_ID, n, &due);
	if (a.c->lookups && !found)
		jc_memory_count(a.c->memory, (const char *)a.sealed + JC_SEALED_KIND, n);
	if (!a.c->lookups) {
		if ((status = find_core(&a)) != JITCACHE_OK)
			return end(&a, status);
		a.core->used(a.cache, (uint8_t *)a.sealed, n);
	}
	if (due != 0)
		jc_cache_maintain(a.c, a.sealed + JC_SEALED_ID, due);
	return end(&a, found ? JITCACHE_OK : jc_miss(JITCACHE_MISS, JITCACHE_REASON_ABSENT));
}

const volatile uint64_t *jitcache_epoch(jitcache_cache *cache)
{
	jc_cache *c = jc_handle_peek(JC_HANDLE(cache), JC_CACHE);
	if (c == NULL) {
		jc_bad_handle(cache, "cache");
		return NULL;
	}
	return c->lookups ? (const volatile uint64_t *)jc_memory_epoch(c->memory) : NULL;
}

int32_t jitcache_flush(jitcache_cache *cache)
{
	call a;
	jc_thread_unwind();
	int32_t status = begin_cache(&a, cache);
	return status != JITCACHE_OK ? status : end(&a, a.core->flush(a.cache));
}

int32_t jitcache_trim(jitcache_cache *cache)
{
	call a;
	jc_out out = {0};
	jc_thread_unwind();
	int32_t status = begin_cache(&a, cache);
	return status != JITCACHE_OK ? status : end(&a, jc_finish(a.core->trim(a.cache, &out), &out));
}

int32_t jitcache_clear(jitcache_cache *cache, const char *kind)
{
	call a;
	jc_out out = {0};
	jc_thread_unwind();
	int32_t status = begin_cache(&a, cache);
	return status != JITCACHE_OK ? status : end(&a, jc_finish(a.core->clear(a.cache, (char *)kind, &out), &out));
}

int32_t jitcache_count(jitcache_cache *cache, uint64_t *entries)
{
	call a;
	jc_out out = {0};
	jc_thread_unwind();
	if (entries == NULL)
		return jc_fail(JITCACHE_ERR_ARGUMENT, "entries: NULL");
	*entries = 0;
	int32_t status = begin_cache(&a, cache);
	return status != JITCACHE_OK ? status : end(&a, jc_finish(a.core->count(a.cache, entries, &out), &out));
}

int32_t jitcache_verify(jitcache_cache *cache, jitcache_blob **report)
{
	call a;
	jc_out out = {0};
	jc_blob *b = NULL;
	jc_thread_unwind();
	if (report != NULL)
		*report = NULL;
	int32_t status = begin_cache(&a, cache);
	if (status != JITCACHE_OK)
		return status;
	status = jc_finish(a.core->verify(a.cache, &b, &out), &out);
	return as_json(&a, status, b, report);
}

/* begin_report begins a call that makes a report. */
static int32_t begin_report(call *a, jitcache_cache *cache, jitcache_blob **json)
{
	jc_thread_unwind();
	if (json == NULL)
		return jc_fail(JITCACHE_ERR_ARGUMENT, "json: NULL");
	*json = NULL;
	return begin_cache(a, cache);
}

int32_t jitcache_stats(jitcache_cache *cache, jitcache_blob **json)
{
	call a;
	jc_out out = {0};
	jc_blob *b = NULL;
	int32_t status = begin_report(&a, cache, json);
	if (status != JITCACHE_OK)
		return status;
	status = jc_finish(a.core->stats(a.cache, &b, &out), &out);
	return as_json(&a, status, b, json);
}
