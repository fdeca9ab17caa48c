/* native.c: from a request to a result, in the cache or from a command. */
#include <stdatomic.h>
#include <stdlib.h>

#include "core.h"
#include "handles.h"
#include "job.h"
#include "request.h"
#include "thread.h"

/* look asks the core for the result of a request, or one of its keys. */
static int32_t look(jc_call *c, int32_t want, jc_found *found)
{
	jc_bytes variables = {0};
	jc_out out = {0};
	int32_t status;
	if (!jc_job_environment(&variables))
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

/* key_of returns one of the keys of a request. */
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
	jc_handle job = 0;
	int32_t flags = atomic_load(&t->holding) > 0 ? JC_HOLDING : 0;
	if (!jc_job_environment(&variables))
		status = jc_fail(JITCACHE_ERR_MEMORY, "native job: no memory");
	else
		status = jc_finish(c.core->native_start(c.cache_core, &c.parts, variables.data, variables.size,
					   timeout_ms, limit_ms, flags, &begun, &result),
			&result);
	free(variables.data);
	if (status == JITCACHE_OK)
		status = jc_job_publish(c.core, begun, JC_HANDLE(cache), t, &job);
	*out = JC_POINTER(jitcache_native_job, job);
	jc_call_leave(&c);
	return status;
}

int32_t jitcache_native_step(jitcache_native_job *job, jitcache_blob **blob, int32_t *hit)
{
	jc_thread_unwind();
	if (blob == NULL)
		return jc_fail(JITCACHE_ERR_ARGUMENT, "native job: NULL");
	return jc_job_step(JC_HANDLE(job), blob, hit);
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
