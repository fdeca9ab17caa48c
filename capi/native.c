/* native.c: from a request to a result, in the cache or from a command. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "blob_handle.h"
#include "bytes.h"
#include "core.h"
#include "handles.h"
#include "log.h"
#include "request.h"
#include "runtime.h"
#include "thread.h"

extern char **environ;

/* environment packs the host's variables, each ended by a NUL, as they are now. */
static int environment(jc_bytes *all)
{
	for (char **e = environ; e != NULL && *e != NULL; e++) {
		size_t n = strlen(*e) + 1;
		if (!jc_bytes_reserve(all, n))
			return 0;
		jc_bytes_append(all, *e, n);
	}
	return 1;
}

/* look asks the core for what is known of a request: the result, or its key. */
static int32_t look(jc_call *c, int32_t want, jc_found *found)
{
	jc_bytes variables = {0};
	jc_out out = {0};
	int32_t status;
	if (!environment(&variables))
		status = jc_fail(JITCACHE_ERR_MEMORY, "native lookup: no memory");
	else
		status = jc_finish(c->core->native_lookup(c->cache_core, &c->parts, variables.data, variables.size,
					   want, &found->blob, &found->sealed, &found->nsealed, &out),
			&out);
	free(variables.data);
	return status;
}

int32_t jitcache_native_lookup(
	jitcache_cache *cache, jitcache_native_request *request, jitcache_blob **blob, const void **data, size_t *size)
{
	jc_call c;
	jc_found found = {0};
	jc_thread_unwind();
	if (cache == NULL || blob == NULL)
		return jc_fail(JITCACHE_ERR_ARGUMENT, "native lookup: NULL");
	*blob = NULL;
	int32_t status = jc_call_enter(&c, cache, JC_HANDLE(request), JC_NATIVE);
	if (status != JITCACHE_OK)
		return status;
	status = jc_call_give(&c, look(&c, JC_WANT_BLOB, &found), &found, blob, data, size, NULL);
	jc_call_leave(&c);
	return status;
}

/* key_of gives one of a request's keys. */
static int32_t key_of(jitcache_cache *cache, jitcache_native_request *request, int32_t want, jitcache_key **key)
{
	jc_call c;
	jc_found found = {0};
	jc_thread_unwind();
	if (cache == NULL || key == NULL)
		return jc_fail(JITCACHE_ERR_ARGUMENT, "native key: NULL");
	*key = NULL;
	int32_t status = jc_call_enter(&c, cache, JC_HANDLE(request), JC_NATIVE);
	if (status != JITCACHE_OK)
		return status;
	status = jc_call_give(&c, look(&c, want, &found), &found, NULL, NULL, NULL, key);
	jc_call_leave(&c);
	return status;
}

int32_t jitcache_native_key(jitcache_cache *cache, jitcache_native_request *request, jitcache_key **key)
{
	return key_of(cache, request, JC_WANT_KEY, key);
}

int32_t jitcache_native_record_key(jitcache_cache *cache, jitcache_native_request *request, jitcache_key **key)
{
	return key_of(cache, request, JC_WANT_RECORD_KEY, key);
}

int32_t jitcache_native_process_key(jitcache_cache *cache, jitcache_native_request *request, jitcache_key **key)
{
	return key_of(cache, request, JC_WANT_PROCESS_KEY, key);
}

/* ---- jobs */

typedef struct job {
	void *core; /* the core's job */
	uint32_t generation;
	jc_handle cache_handle; /* entered; 0: none */
	jc_thread *thread;      /* that started it */
} job;

static void destroy(void *object, jc_extra *extra)
{
	(void)extra;
	job *j = object;
	if (j->generation == jc_core_generation()) {
		const jc_core *core = jc_core_running();
		if (core != NULL)
			core->native_end(j->core);
	}
	atomic_fetch_sub(&j->thread->holding, 1);
	jc_thread_release(j->thread);
	if (j->cache_handle != 0)
		jc_handle_leave(j->cache_handle);
	free(j);
}

/* publish makes a handle of what the core has begun, or ends it. */
static int32_t publish(const jc_core *core, void *begun, jitcache_cache *cache, jc_thread *t, jitcache_native_job **out)
{
	job *j = calloc(1, sizeof *j);
	if (j == NULL) {
		core->native_end(begun);
		return jc_fail(JITCACHE_ERR_MEMORY, "native job: no memory");
	}
	j->core = begun;
	j->generation = jc_core_generation();
	j->cache_handle = cache != NULL && jc_handle_enter(JC_HANDLE(cache), JC_CACHE) != NULL ? JC_HANDLE(cache) : 0;
	j->thread = t;
	/* It will hold a lease: what the thread asks for meanwhile must not wait. */
	atomic_fetch_add(&t->holding, 1);
	atomic_fetch_add(&t->refs, 1);
	jc_handle h = jc_handle_new(JC_JOB, j, (jc_extra){0}, destroy);
	if (h == 0) {
		destroy(j, NULL);
		return jc_fail(JITCACHE_ERR_MEMORY, "native job: no memory");
	}
	*out = JC_POINTER(jitcache_native_job, h);
	return JITCACHE_OK;
}

int32_t jitcache_native_start(jitcache_cache *cache, jitcache_native_request *request, int64_t timeout_ms,
	int64_t limit_ms, jitcache_native_job **out)
{
	jc_call c;
	jc_bytes variables = {0};
	jc_out result = {0};
	jc_thread_unwind();
	if (out == NULL || limit_ms < 0)
		return jc_fail(JITCACHE_ERR_ARGUMENT, out == NULL ? "native job: NULL" : "native job: limit below 0");
	*out = NULL;
	jc_thread *t = jc_thread_self();
	if (t == NULL)
		return JITCACHE_ERR_MEMORY;
	int32_t status = jc_call_enter(&c, cache, JC_HANDLE(request), JC_NATIVE);
	if (status != JITCACHE_OK)
		return status;
	void *begun = NULL;
	int32_t flags = atomic_load(&t->holding) > 0 ? JC_HOLDING : 0;
	if (!environment(&variables))
		status = jc_fail(JITCACHE_ERR_MEMORY, "native job: no memory");
	else
		status = jc_finish(c.core->native_start(c.cache_core, &c.parts, variables.data, variables.size,
					   timeout_ms, limit_ms, flags, &begun, &result),
			&result);
	free(variables.data);
	if (status == JITCACHE_OK)
		status = publish(c.core, begun, cache, t, out);
	jc_call_leave(&c);
	return status;
}

int32_t jitcache_native_step(jitcache_native_job *handle, jitcache_blob **blob, int32_t *hit)
{
	jc_out out = {0};
	jc_blob *found = NULL;
	int32_t was_there = 0;
	char *log = NULL;
	jc_thread_unwind();
	if (blob == NULL)
		return jc_fail(JITCACHE_ERR_ARGUMENT, "native job: NULL");
	*blob = NULL;
	job *j = jc_handle_enter(JC_HANDLE(handle), JC_JOB);
	if (j == NULL)
		return jc_bad_handle(handle, "native job");
	const jc_core *core = jc_core_get();
	int32_t status;
	if (core == NULL || j->generation != jc_core_generation()) {
		status = jc_fail(JITCACHE_ERR_FORK, "native job: begun by the parent of this process");
	} else {
		jc_compile_log(NULL);
		status = core->native_step(j->core, &found, &was_there, &log, &out);
		status = jc_finish(status, &out);
		jc_compile_log(log);
	}
	if (hit != NULL)
		*hit = was_there;
	if (found != NULL) {
		int32_t given = jc_blob_handle(found, j->cache_handle, blob);
		status = given == JITCACHE_OK ? status : given;
	}
	jc_handle_leave(JC_HANDLE(handle));
	jc_log_drain();
	return status;
}

void jitcache_native_job_free(jitcache_native_job *job)
{
	if (job != NULL)
		jc_handle_close(JC_HANDLE(job), JC_JOB);
}

int32_t jitcache_native_build(jitcache_cache *cache, jitcache_native_request *request, int64_t timeout_ms,
	int64_t limit_ms, jitcache_blob **blob)
{
	jitcache_native_job *job;
	if (blob == NULL)
		return jc_fail(JITCACHE_ERR_ARGUMENT, "native build: NULL");
	*blob = NULL;
	int32_t status = jitcache_native_start(cache, request, timeout_ms, limit_ms, &job);
	if (status != JITCACHE_OK)
		return status;
	do
		status = jitcache_native_step(job, blob, NULL);
	while (status == JITCACHE_BUSY);
	jitcache_native_job_free(job);
	return status;
}

const char *jitcache_native_last_log(void) { return jitcache_cuda_last_log(); }
