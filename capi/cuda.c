/* cuda.c: from a request to code: look up, acquire, compile. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core.h"
#include "handles.h"
#include "job.h"
#include "lease.h"
#include "request.h"
#include "runtime.h"
#include "thread.h"

/* look asks the core for the blob if want is not 0, and for the key otherwise. */
static int32_t look(jc_call *c, int32_t want, jc_found *f)
{
	jc_bytes variables = {0};
	jc_out out = {0};
	int32_t status;
	if (!jc_job_environment(&variables))
		status = jc_fail(JITCACHE_ERR_MEMORY, "cuda lookup: no memory");
	else
		status = jc_finish(c->core->cuda_lookup(c->cache_core, &c->parts, variables.data, variables.size, want,
					   &f->blob, &f->sealed, &f->nsealed, &out),
			&out);
	free(variables.data);
	return status;
}

int32_t jitcache_cuda_lookup(jitcache_cache *cache, jitcache_cuda_request *request, jitcache_blob **blob,
	const void **data, size_t *size, jitcache_key **key)
{
	jc_call c;
	jc_thread_unwind();
	if (cache == NULL || blob == NULL || key == NULL)
		return jc_fail(JITCACHE_ERR_ARGUMENT, "cuda lookup: NULL");
	*blob = NULL;
	*key = NULL;
	int32_t status = jc_call_enter(&c, cache, JC_HANDLE(request), JC_REQUEST);
	if (status != JITCACHE_OK)
		return status;
	jc_found found = {0};
	status = jc_call_give(&c, look(&c, 1, &found), &found, blob, data, size, key);
	jc_call_leave(&c);
	return status;
}

int32_t jitcache_cuda_key(jitcache_cache *cache, jitcache_cuda_request *request, jitcache_key **key)
{
	jc_call c;
	jc_thread_unwind();
	if (key == NULL)
		return jc_fail(JITCACHE_ERR_ARGUMENT, "cuda key: NULL");
	*key = NULL;
	int32_t status = jc_call_enter(&c, cache, JC_HANDLE(request), JC_REQUEST);
	if (status != JITCACHE_OK)
		return status;
	jc_found found = {0};
	status = jc_call_give(&c, look(&c, 0, &found), &found, NULL, NULL, NULL, key);
	jc_call_leave(&c);
	return status;
}

/* start begins a job that compiles. lease is the core's, and may be NULL. */
static int32_t start(
	jitcache_cache *cache, jitcache_cuda_request *request, int64_t timeout_ms, void *lease, jc_handle *job)
{
	jc_call c;
	jc_bytes variables = {0};
	jc_out out = {0};
	void *begun = NULL;
	jc_thread *t = jc_thread_self();
	int32_t status = t == NULL ? JITCACHE_ERR_MEMORY : jc_call_enter(&c, cache, JC_HANDLE(request), JC_REQUEST);
	if (status != JITCACHE_OK) {
		if (lease != NULL)
			jc_core_running()->release(lease);
		return status;
	}
	int32_t flags = atomic_load(&t->holding) > 0 ? JC_HOLDING : 0;
	if (!jc_job_environment(&variables)) {
		status = jc_fail(JITCACHE_ERR_MEMORY, "cuda: no memory");
		if (lease != NULL)
			c.core->release(lease);
	} else {
		status = c.core->cuda_start(
			c.cache_core, &c.parts, variables.data, variables.size, timeout_ms, flags, lease, &begun, &out);
		status = jc_finish(status, &out);
	}
	free(variables.data);
	if (status == JITCACHE_OK)
		status = jc_job_publish(c.core, begun, JC_HANDLE(cache), t, job);
	jc_call_leave(&c);
	return status;
}

/* compile compiles to the end. */
static int32_t compile(
	jitcache_cache *cache, jitcache_cuda_request *request, int64_t timeout_ms, void *lease, jitcache_blob **blob)
{
	jc_handle job = 0;
	jitcache_blob *made = NULL;
	int32_t status = start(cache, request, timeout_ms, lease, &job);
	if (status != JITCACHE_OK)
		return status;
	do
		status = jc_job_step(job, &made, NULL);
	while (status == JITCACHE_BUSY);
	jc_handle_close(job, JC_JOB);
	if (blob != NULL)
		*blob = made;
	else
		jitcache_blob_release(made);
	return status;
}

int32_t jitcache_cuda_run(jitcache_cuda_request *request, jitcache_lease *lease, jitcache_blob **blob)
{
	jc_handle cache = 0;
	void *taken = NULL;
	jc_thread_unwind();
	if (blob != NULL)
		*blob = NULL;
	if (lease != NULL && !jc_lease_take(lease, &taken, &cache))
		return jc_bad_handle(lease, "lease");
	int32_t status = compile(JC_POINTER(jitcache_cache, cache), request, -1, taken, blob);
	if (cache != 0)
		jc_handle_leave(cache);
	return status;
}

int32_t jitcache_cuda_compile(
	jitcache_cache *cache, jitcache_cuda_request *request, int64_t timeout_ms, jitcache_blob **blob)
{
	jc_thread_unwind();
	if (blob == NULL || timeout_ms < -1)
		return jc_fail(JITCACHE_ERR_ARGUMENT, blob == NULL ? "cuda compile: NULL" : "timeout: below -1");
	*blob = NULL;
	return compile(cache, request, timeout_ms, NULL, blob);
}

/* copy_text copies the log, or the lowered name of an expression, from a blob's
 * attributes. */
static int32_t copy_text(jitcache_blob *blob, const char *expression, char *buffer, size_t capacity, size_t *size)
{
	if (size == NULL || (buffer == NULL && capacity > 0))
		return jc_fail(JITCACHE_ERR_ARGUMENT, "cuda text: NULL");
	*size = 0;
	const jc_core *core = jc_core_get();
	if (core == NULL)
		return jc_no_core();
	jc_blob *b = jc_handle_enter(JC_HANDLE(blob), JC_BLOB);
	if (b == NULL)
		return jc_bad_handle(blob, "blob");
	char *text = NULL;
	jc_out out = {0};
	int32_t status = jc_finish(core->cuda_text((char *)b->attributes, (char *)expression, &text, &out), &out);
	jc_handle_leave(JC_HANDLE(blob));
	if (text == NULL)
		return status;
	*size = strlen(text);
	if (*size < capacity)
		memcpy(buffer, text, *size + 1);
	else
		status = JITCACHE_TOO_SMALL;
	free(text);
	return status;
}

int32_t jitcache_cuda_log(jitcache_blob *blob, char *buffer, size_t capacity, size_t *size)
{
	jc_thread_unwind();
	return copy_text(blob, NULL, buffer, capacity, size);
}

int32_t jitcache_cuda_lowered(jitcache_blob *blob, const char *expression, char *buffer, size_t capacity, size_t *size)
{
	jc_thread_unwind();
	if (expression == NULL)
		return jc_fail(JITCACHE_ERR_ARGUMENT, "cuda expression: NULL");
	return copy_text(blob, expression, buffer, capacity, size);
}
