/* cuda.c: from a request to code: look up, acquire, compile, commit. */
#include <stdlib.h>
#include <string.h>

#include "blob_handle.h"
#include "core.h"
#include "handles.h"
#include "lease.h"
#include "request.h"
#include "runtime.h"
#include "thread.h"

/* look asks the core for the blob, if it is wanted, and else for the key. */
static int32_t look(jc_call *c, int32_t want, jc_found *f)
{
	jc_out out = {0};
	int32_t status = c->core->cuda_lookup(c->cache_core, &c->parts, want, &f->blob, &f->sealed, &f->nsealed, &out);
	return jc_finish(status, &out);
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

/* compile_once compiles. id is the key that the result is wanted for, or NULL;
 * with *stale the request has another one by now. */
static int32_t compile_once(jitcache_cuda_request *request, uint8_t *id, jc_blob **b, int32_t *stale)
{
	jc_call c;
	int32_t status = jc_call_enter(&c, NULL, JC_HANDLE(request), JC_REQUEST);
	if (status != JITCACHE_OK)
		return status;
	jc_out out = {0};
	char *log = NULL;
	status = c.core->cuda_run(&c.parts, id, b, stale, &log, &out);
	status = jc_finish(status, &out);
	jc_compile_log(log);
	jc_call_leave(&c);
	return status;
}

/* hand_out gives a result to the host that was not stored. */
static int32_t hand_out(jc_blob *b, int stale, jitcache_blob **blob)
{
	int32_t status = JITCACHE_OK;
	if (blob == NULL)
		jc_blob_release(b);
	else
		status = jc_blob_handle(b, 0, blob);
	if (status == JITCACHE_OK && stale)
		status = jc_miss(JITCACHE_NOT_STORED, JITCACHE_REASON_INPUT_CHANGED);
	return status;
}

static int32_t commit(jitcache_lease *lease, jc_blob *b, jitcache_blob **blob)
{
	int32_t status = jitcache_commit(lease, b->data, b->size, b->attributes, blob);
	jc_blob_release(b);
	return status;
}

int32_t jitcache_cuda_run(jitcache_cuda_request *request, jitcache_lease *lease, jitcache_blob **blob)
{
	uint8_t id[32];
	jc_blob *b = NULL;
	int32_t stale = 0;
	jc_thread_unwind();
	if (blob != NULL)
		*blob = NULL;
	if (lease != NULL && !jc_lease_id(lease, id))
		return jc_bad_handle(lease, "lease");
	int32_t status = compile_once(request, lease != NULL ? id : NULL, &b, &stale);
	if (status == JITCACHE_OK && lease != NULL && !stale)
		return commit(lease, b, blob);
	jitcache_lease_free(lease);
	return status == JITCACHE_OK ? hand_out(b, stale, blob) : status;
}

/* running is what the callback below works for. */
typedef struct running {
	jitcache_cuda_request *request;
	jc_blob *stale; /* a result that is not to be stored */
} running;

static int32_t run(void *user, jitcache_lease *lease)
{
	running *r = user;
	uint8_t id[32];
	jc_blob *b = NULL;
	int32_t stale = 0;
	jc_lease_id(lease, id);
	int32_t status = compile_once(r->request, id, &b, &stale);
	if (status != JITCACHE_OK)
		return status;
	if (!stale)
		return commit(lease, b, NULL);
	r->stale = b;
	return JITCACHE_NOT_STORED;
}

int32_t jitcache_cuda_compile(
	jitcache_cache *cache, jitcache_cuda_request *request, int64_t timeout_ms, jitcache_blob **blob)
{
	jitcache_key *key;
	if (blob == NULL || timeout_ms < -1)
		return jc_fail(JITCACHE_ERR_ARGUMENT, blob == NULL ? "cuda compile: NULL" : "timeout: below -1");
	if (cache == NULL)
		return jitcache_cuda_run(request, NULL, blob);
	int32_t status = jitcache_cuda_lookup(cache, request, blob, NULL, NULL, &key);
	if (status != JITCACHE_MISS)
		return status;
	if (key == NULL)
		return jitcache_cuda_run(request, NULL, blob);
	running r = {request, NULL};
	status = jitcache_get_or_compile(cache, key, timeout_ms, run, &r, blob);
	jitcache_key_free(key);
	return r.stale != NULL ? hand_out(r.stale, 1, blob) : status;
}

/* copy_text copies a text of the core's out of a blob's attributes. */
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
