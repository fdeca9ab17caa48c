/* lease.c: acquire, commit, release, and jitcache_get_or_compile. */
#include "lease.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "blob_handle.h"
#include "cache.h"
#include "controls.h"
#include "handles.h"
#include "key.h"
#include "locks.h"
#include "log.h"
#include "runtime.h"
#include "thread.h"

/* A lease as the host holds it. It can be used in a forked child too. The core that
 * granted it is gone there, and nobody holds the lock; a commit is a put. */
typedef struct lease {
	_Atomic int ended; /* the call that sets it ends the lease */
	void *core;        /* the core's lease */
	uint32_t generation;
	jc_handle cache_handle, key_handle; /* entered; either may have been closed since */
	jc_cache *cache;
	const uint8_t *sealed;
	size_t nsealed;
	jc_thread *thread; /* the thread that it was granted to */
	int keep;          /* jitcache_get_or_compile wants the blob */
	int committed;
	int32_t status; /* of the commit */
	int32_t reason;
	jc_blob *blob;
} lease;

/* release ends the core's lease, and takes it off the thread's count. Only the call that has
 * set ended calls it, once. */
static void release(lease *l)
{
	if (l->core != NULL && l->generation == jc_core_generation()) {
		const jc_core *core = jc_core_running();
		if (core != NULL)
			core->release(l->core);
	}
	l->core = NULL;
	atomic_fetch_sub(&l->thread->holding, 1);
	jc_thread_release(l->thread);
	l->thread = NULL;
}

static void destroy(void *object, jc_extra *extra)
{
	(void)extra;
	lease *l = object;
	if (!atomic_exchange(&l->ended, 1))
		release(l);
	if (l->blob != NULL)
		jc_blob_release(l->blob);
	jc_handle_leave(l->key_handle);
	jc_handle_leave(l->cache_handle);
	free(l);
}

/* enter_both enters the cache and the key for as long as the lease lives. Another
 * thread may have closed either since the call began. */
static int32_t enter_both(lease *l, jitcache_cache *cache, jitcache_key *key)
{
	l->cache = jc_handle_enter(JC_HANDLE(cache), JC_CACHE);
	if (l->cache == NULL)
		return jc_bad_handle(cache, "cache");
	jc_key *k = jc_handle_enter(JC_HANDLE(key), JC_KEY);
	if (k == NULL) {
		jc_handle_leave(JC_HANDLE(cache));
		return jc_bad_handle(key, "key");
	}
	int32_t status;
	l->sealed = jc_key_seal(k, &l->nsealed, &status); /* frozen: the core has granted a lease on it */
	l->cache_handle = JC_HANDLE(cache);
	l->key_handle = JC_HANDLE(key);
	return JITCACHE_OK;
}

int jc_lease_take(jitcache_lease *handle, void **core, jc_handle *cache)
{
	lease *l = jc_handle_enter(JC_HANDLE(handle), JC_LEASE);
	if (l == NULL)
		return 0;
	if (atomic_exchange(&l->ended, 1)) {
		jc_handle_leave(JC_HANDLE(handle));
		return 0;
	}
	/* A lease of the parent's locks nothing in a forked child. */
	*core = l->generation == jc_core_generation() && jc_core_running() != NULL ? l->core : NULL;
	l->core = NULL;
	*cache = jc_handle_enter(l->cache_handle, JC_CACHE) != NULL ? l->cache_handle : 0;
	release(l);
	jc_handle_leave(JC_HANDLE(handle));
	jc_handle_close(JC_HANDLE(handle), JC_LEASE);
	return 1;
}

/* grant makes the handle of a lease that the core has granted. */
static int32_t grant(void *core_lease, jitcache_cache *cache, jitcache_key *key, jc_thread *t, jitcache_lease **out)
{
	lease *l = calloc(1, sizeof *l);
	int32_t status = l == NULL ? JITCACHE_ERR_MEMORY : enter_both(l, cache, key);
	if (status != JITCACHE_OK) {
		free(l);
		jc_core_running()->release(core_lease);
		return status == JITCACHE_ERR_MEMORY ? jc_fail(status, "lease: no memory") : status;
	}
	l->core = core_lease;
	l->generation = jc_core_generation();
	l->thread = t;
	atomic_fetch_add(&t->refs, 1);
	atomic_fetch_add(&t->holding, 1);
	jc_handle h = jc_handle_new(JC_LEASE, l, (jc_extra){0}, destroy);
	if (h == 0) {
		destroy(l, NULL);
		return jc_fail(JITCACHE_ERR_MEMORY, "lease: no memory");
	}
	*out = JC_POINTER(jitcache_lease, h);
	return JITCACHE_OK;
}

/* acquire_once is one call of the core's acquire. */
static int32_t acquire_once(jc_cache *c, const uint8_t *sealed, size_t nsealed, int64_t timeout_ms, jc_thread *t,
	jc_blob **b, void **core_lease)
{
	const jc_core *core = jc_core_get();
	if (core == NULL)
		return jc_no_core();
	int32_t status = JITCACHE_OK;
	void *cache = jc_cache_core(c, core, &status);
	if (cache == NULL)
		return status;
	const uint8_t *id = sealed + JC_SEALED_ID;
	int32_t flags = atomic_load(&t->holding) > 0 ? JC_HOLDING : 0;
	if (t->busy && memcmp(t->busy_id, id, 32) == 0)
		flags |= JC_AGAIN;
	jc_out out = {0};
	status = core->acquire(cache, (uint8_t *)sealed, nsealed, timeout_ms, flags, b, core_lease, &out);
	t->busy = status == JITCACHE_BUSY;
	if (t->busy)
		memcpy(t->busy_id, id, 32);
	else
		jc_finish(status, &out);
	return status;
}

int32_t jitcache_acquire(
	jitcache_cache *cache, jitcache_key *key, int64_t timeout_ms, jitcache_blob **blob, jitcache_lease **out)
{
	jc_thread_unwind();
	if (blob == NULL || out == NULL || timeout_ms < -1)
		return jc_fail(JITCACHE_ERR_ARGUMENT, timeout_ms < -1 ? "timeout: below -1" : "acquire: NULL");
	*blob = NULL;
	*out = NULL;
	jc_thread *t = jc_thread_self();
	if (t == NULL)
		return JITCACHE_ERR_MEMORY;
	jc_cache *c = jc_handle_enter(JC_HANDLE(cache), JC_CACHE);
	if (c == NULL)
		return jc_bad_handle(cache, "cache");
	jc_key *k = jc_handle_enter(JC_HANDLE(key), JC_KEY);
	if (k == NULL) {
		jc_handle_leave(JC_HANDLE(cache));
		return jc_bad_handle(key, "key");
	}
	int32_t status;
	size_t nsealed;
	const uint8_t *sealed = jc_key_seal(k, &nsealed, &status);
	if (sealed != NULL) {
		jc_blob *b = NULL;
		void *core_lease = NULL;
		int due = 0;
		status = JITCACHE_OK;
		if (c->lookups)
			b = jc_memory_get(c->memory, sealed + JC_SEALED_ID, &due);
		if (due != 0)
			jc_cache_maintain(c, sealed + JC_SEALED_ID, due);
		if (b == NULL)
			status = acquire_once(c, sealed, nsealed, timeout_ms, t, &b, &core_lease);
		if (b != NULL)
			status = jc_blob_handle(b, JC_HANDLE(cache), blob);
		else if (core_lease != NULL) {
			int32_t granted = grant(core_lease, cache, key, t, out);
			status = granted == JITCACHE_OK ? status : granted;
		}
	}
	jc_handle_leave(JC_HANDLE(key));
	jc_handle_leave(JC_HANDLE(cache));
	jc_log_drain();
	return status;
}

/* keep_bytes makes a blob of a result for which no core has made one. */
static void keep_bytes(lease *l, const void *data, size_t size)
{
	jc_blob *b = jc_blob_new(size);
	if (b == NULL)
		return;
	if (size > 0)
		memcpy(b->data, data, size);
	b->size = size;
	strcpy(b->kind, "generic");
	l->blob = b;
}

/* commit_as_put stores a result in a forked child whose parent was granted the
 * lease. */
static int32_t commit_as_put(lease *l, const void *data, size_t size, const char *attributes)
{
	const jc_core *core = jc_core_get();
	if (core == NULL)
		return jc_no_core();
	int32_t status = JITCACHE_OK;
	void *cache = jc_cache_core(l->cache, core, &status);
	if (cache == NULL)
		return status;
	jc_out out = {0};
	status = core->put(
		cache, (uint8_t *)l->sealed, l->nsealed, (uint8_t *)data, size, (char *)attributes, 0, -1, &out);
	l->reason = out.reason;
	if (l->keep && status >= 0)
		keep_bytes(l, data, size);
	return jc_finish(status, &out);
}

static int32_t commit(lease *l, const void *data, size_t size, const char *attributes)
{
	if (l->core == NULL || l->generation != jc_core_generation())
		return commit_as_put(l, data, size, attributes);
	if (JC_CONTROL == JC_LATE_STORE && l->keep) {
		keep_bytes(l, data, size);
		return JITCACHE_OK;
	}
	jc_out out = {0};
	int32_t status =
		jc_core_running()->commit(l->core, (uint8_t *)data, size, (char *)attributes, l->keep, &l->blob, &out);
	l->core = NULL; /* ended, successful or not */
	l->reason = out.reason;
	return jc_finish(status, &out);
}

int32_t jitcache_commit(
	jitcache_lease *handle, const void *data, size_t size, const char *attributes, jitcache_blob **blob)
{
	if (blob != NULL)
		*blob = NULL;
	lease *l = jc_handle_enter(JC_HANDLE(handle), JC_LEASE);
	if (l == NULL)
		return jc_bad_handle(handle, "lease");
	int32_t status;
	int own = l->keep;
	if (atomic_exchange(&l->ended, 1)) {
		jc_handle_leave(JC_HANDLE(handle));
		return jc_fail(JITCACHE_ERR_HANDLE, "lease: committed already");
	}
	if (data == NULL && size > 0) {
		status = jc_fail(JITCACHE_ERR_ARGUMENT, "data: NULL");
	} else {
		l->keep = own || blob != NULL;
		status = commit(l, data, size, attributes);
		l->committed = status >= 0;
		l->status = status;
	}
	release(l);
	if (blob != NULL && l->blob != NULL) {
		jc_blob_retain(l->blob);
		int32_t made = jc_blob_handle(l->blob, l->cache_handle, blob);
		status = made == JITCACHE_OK ? status : made;
	}
	jc_handle_leave(JC_HANDLE(handle));
	/* jitcache_get_or_compile closes its own lease. */
	if (!own)
		jc_handle_close(JC_HANDLE(handle), JC_LEASE);
	jc_log_drain();
	return status;
}

void jitcache_lease_free(jitcache_lease *handle)
{
	/* A lease that was committed is closed already: freeing it is fine. */
	if (handle != NULL)
		jc_handle_close(JC_HANDLE(handle), JC_LEASE);
	jc_log_drain();
}

/* ---- jitcache_get_or_compile */

static int64_t now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* acquire_in_time repeats jitcache_acquire while it is busy, until the timeout. */
static int32_t acquire_in_time(
	jitcache_cache *cache, jitcache_key *key, int64_t timeout_ms, jitcache_blob **blob, jitcache_lease **l)
{
	int64_t start = timeout_ms > 0 ? now_ms() : 0, left = timeout_ms;
	for (;;) {
		int32_t status = jitcache_acquire(cache, key, left, blob, l);
		if (status != JITCACHE_BUSY)
			return status;
		if (timeout_ms > 0) {
			left = timeout_ms - (now_ms() - start);
			if (left < 0)
				left = 0;
		}
	}
}

/* The unwinder of a C++ host runs the cleanup below through two symbols of libgcc_s.
 * A C host, such as Python, does not need them and may not have loaded them; a host
 * with another unwinder must not get libgcc's. So they are weak. If they are missing,
 * an exception skips this frame, and the lease is given up as after a longjmp. */
__asm__(".weak _Unwind_Resume\n\t.weak __gcc_personality_v0");

/* callback is a callback in progress; its cleanup pops the frame. */
typedef struct callback {
	jitcache_lease *handle;
	jc_thread *thread;
} callback;

/* pop_frames runs when the frame is left, by return or by a C++ exception. */
static void pop_frames(callback *r)
{
	jc_thread *t = r->thread;
	while (JC_CONTROL != JC_NO_UNWIND && t->nframes > 0) {
		jc_frame f = t->frames[--t->nframes];
		jitcache_lease_free(JC_POINTER(jitcache_lease, f.lease));
		if (f.lease == JC_HANDLE(r->handle))
			break;
	}
}

static int push_frame(jc_thread *t, jitcache_lease *handle, char *at)
{
	if (t->nframes == t->capframes) {
		int cap = 2 * t->capframes + 4;
		jc_frame *frames = realloc(t->frames, (size_t)cap * sizeof *frames);
		if (frames == NULL)
			return 0;
		t->frames = frames;
		t->capframes = cap;
	}
	t->frames[t->nframes++] = (jc_frame){JC_HANDLE(handle), at};
	return 1;
}

/* result is what jitcache_get_or_compile returns after the callback did. */
static int32_t result(lease *l, int32_t returned, jitcache_blob **blob)
{
	if (!l->committed) {
		if (returned == JITCACHE_OK)
			return jc_fail(JITCACHE_ERR_ARGUMENT, "compile: returned ok without a commit");
		if (returned < 0 && *jitcache_last_error() == 0)
			jc_fail(returned, "compile: the callback returned %d", (int)returned);
		return returned;
	}
	if (returned != JITCACHE_OK && returned != JITCACHE_NOT_STORED)
		return returned;
	if (JC_CONTROL == JC_LATE_STORE && l->blob != NULL)
		commit_as_put(l, l->blob->data, l->blob->size, NULL);
	if (l->status == JITCACHE_NOT_STORED)
		jc_miss(l->status, l->reason);
	if (l->blob == NULL)
		return jc_fail(JITCACHE_ERR_MEMORY, "blob: no memory");
	jc_blob_retain(l->blob);
	int32_t made = jc_blob_handle(l->blob, l->cache_handle, blob);
	return made == JITCACHE_OK ? l->status : made;
}

int32_t jitcache_get_or_compile(jitcache_cache *cache, jitcache_key *key, int64_t timeout_ms,
	jitcache_compile_fn compile, void *user, jitcache_blob **blob)
{
	jc_thread_unwind();
	if (compile == NULL || blob == NULL)
		return jc_fail(JITCACHE_ERR_ARGUMENT, "get_or_compile: NULL");
	jitcache_lease *handle = NULL;
	int32_t status = acquire_in_time(cache, key, timeout_ms, blob, &handle);
	if (handle == NULL)
		return status;
	lease *l = jc_handle_enter(JC_HANDLE(handle), JC_LEASE);
	l->keep = 1;
	jc_thread *t = jc_thread_self();
	if (!push_frame(t, handle, __builtin_frame_address(0))) {
		jc_handle_leave(JC_HANDLE(handle));
		jitcache_lease_free(handle);
		return jc_fail(JITCACHE_ERR_MEMORY, "lease: no memory");
	}
	jc_handle_leave(JC_HANDLE(handle));
	t->error[0] = 0;
	callback r __attribute__((cleanup(pop_frames))) = {handle, t};
	jc_rank_none();
	int32_t returned = compile(user, handle);
	l = jc_handle_enter(JC_HANDLE(handle), JC_LEASE);
	if (l == NULL)
		return returned < 0 ? returned : jc_fail(JITCACHE_ERR_HANDLE, "compile: the lease was freed");
	status = result(l, returned, blob);
	jc_handle_leave(JC_HANDLE(handle));
	return status;
}
