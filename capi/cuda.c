/* cuda.c: from a request to code: look up, acquire, compile, commit. */
#include "front.h"

#include <stdlib.h>
#include <string.h>

/* A call of the core about a request, and what was entered for it. */
typedef struct call {
	const jc_core *core;
	jitcache_cache *cache;
	jitcache_cuda_request *request;
	void *cache_core; /* NULL without a cache */
	jc_parts parts;
} call;

static void leave(call *c)
{
	jc_slot_leave(JC_OF(c->request));
	if (c->cache != NULL)
		jc_slot_leave(JC_OF(c->cache));
	jc_log_drain();
}

static int32_t enter(call *c, jitcache_cache *cache, jitcache_cuda_request *request)
{
	*c = (call){.core = jc_core_enter(), .cache = cache, .request = request};
	jc_compile_log(NULL);
	if (c->core == NULL)
		return jc_no_core();
	int32_t status = JITCACHE_OK;
	jc_request *r = jc_request_enter(c->core, JC_OF(request), JC_REQUEST, "cuda request", &status);
	if (r == NULL)
		return status;
	c->parts = (jc_parts){r->source.data, r->source.size, r->packed.data, r->packed.size, r->digest};
	if (cache == NULL)
		return JITCACHE_OK;
	jc_cache *entered = jc_slot_enter(JC_OF(cache), JC_CACHE);
	if (entered == NULL)
		status = jc_bad_handle(cache, "cache");
	else if ((c->cache_core = jc_cache_core(entered, c->core, &status)) == NULL)
		jc_slot_leave(JC_OF(cache));
	if (c->cache_core == NULL)
		jc_slot_leave(JC_OF(request));
	return status;
}

/* look asks the core for the blob, if it is wanted, and else for the key. */
static int32_t look(call *c, int32_t want, jitcache_blob **blob, const void **data, size_t *size, jitcache_key **key)
{
	jc_out out = {0};
	jc_blob *b = NULL;
	uint8_t *sealed = NULL;
	size_t n = 0;
	int32_t status = c->core->cuda_lookup(c->cache_core, &c->parts, want, &b, &sealed, &n, &out);
	status = jc_finish(status, &out);
	if (b != NULL) {
		if (data != NULL)
			*data = b->data;
		if (size != NULL)
			*size = b->size;
		status = jc_blob_handle(b, JC_OF(c->cache), blob);
	} else if (sealed != NULL) {
		int32_t made = jc_key_of(sealed, n, key);
		status = made == JITCACHE_OK ? status : made;
	}
	free(sealed);
	return status;
}

int32_t jitcache_cuda_lookup(jitcache_cache *cache, jitcache_cuda_request *request, jitcache_blob **blob,
	const void **data, size_t *size, jitcache_key **key)
{
	call c;
	jc_thread_unwind();
	if (cache == NULL || blob == NULL || key == NULL)
		return jc_fail(JITCACHE_ERR_ARGUMENT, "cuda lookup: NULL");
	*blob = NULL;
	*key = NULL;
	int32_t status = enter(&c, cache, request);
	if (status != JITCACHE_OK)
		return status;
	status = look(&c, 1, blob, data, size, key);
	leave(&c);
	return status;
}

int32_t jitcache_cuda_key(jitcache_cache *cache, jitcache_cuda_request *request, jitcache_key **key)
{
	call c;
	jc_thread_unwind();
	if (key == NULL)
		return jc_fail(JITCACHE_ERR_ARGUMENT, "cuda key: NULL");
	*key = NULL;
	int32_t status = enter(&c, cache, request);
	if (status != JITCACHE_OK)
		return status;
	status = look(&c, 0, NULL, NULL, NULL, key);
	leave(&c);
	return status;
}

/* compile_once compiles. id is the key that the result is wanted for, or NULL;
 * with *stale the request has another one by now. */
static int32_t compile_once(jitcache_cuda_request *request, uint8_t *id, jc_blob **b, int32_t *stale)
{
	call c;
	int32_t status = enter(&c, NULL, request);
	if (status != JITCACHE_OK)
		return status;
	jc_out out = {0};
	char *log = NULL;
	status = c.core->cuda_run(&c.parts, id, b, stale, &log, &out);
	status = jc_finish(status, &out);
	jc_compile_log(log);
	leave(&c);
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
	const jc_core *core = jc_core_enter();
	if (core == NULL)
		return jc_no_core();
	jc_blob *b = jc_slot_enter(JC_OF(blob), JC_BLOB);
	if (b == NULL)
		return jc_bad_handle(blob, "blob");
	char *text = NULL;
	jc_out out = {0};
	int32_t status = jc_finish(core->cuda_text((char *)b->attributes, (char *)expression, &text, &out), &out);
	jc_slot_leave(JC_OF(blob));
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
