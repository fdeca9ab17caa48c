/* request.c: requests to compile. A request is a sequence of parts, each a letter, a
 * length and bytes. cuda_request.c and native_request.c define the letters. Calls
 * about requests begin and end here. */
#include "request.h"

#include <stdlib.h>

#include "blob_handle.h"
#include "bytes.h"
#include "cache.h"
#include "key.h"
#include "locks.h"
#include "log.h"
#include "runtime.h"
#include "thread.h"

static const char *type_of(enum jc_kind kind) { return kind == JC_NATIVE ? "native request" : "cuda request"; }

static void destroy(void *object, jc_extra *extra)
{
	(void)extra;
	jc_request *r = object;
	free(r->source.data);
	free(r->packed.data);
	free(r);
}

jc_handle jc_request_publish(jc_request *r, enum jc_kind kind, int whole)
{
	jc_handle h = whole ? jc_handle_new(kind, r, (jc_extra){0}, destroy) : 0;
	if (h == 0) {
		if (r != NULL)
			destroy(r, NULL);
		jc_fail(JITCACHE_ERR_MEMORY, "%s: no memory", type_of(kind));
	}
	return h;
}

void jc_request_release(jc_handle request, enum jc_kind kind)
{
	if (request != 0 && !jc_handle_close(request, kind))
		jc_bad_handle(JC_POINTER(void, request), type_of(kind));
}

int jc_request_begin(jc_request *r, char letter, size_t size)
{
	uint8_t head[JC_PART_HEAD] = {(uint8_t)letter};
	if (size > SIZE_MAX / 4 || !jc_bytes_reserve(&r->packed, JC_PART_HEAD + size))
		return 0;
	jc_put_little(head + 1, size, JC_PART_HEAD - 1);
	jc_bytes_append(&r->packed, head, JC_PART_HEAD);
	return 1;
}

int jc_request_add(jc_request *r, char letter, const void *data, size_t size)
{
	if (!jc_request_begin(r, letter, size))
		return 0;
	jc_bytes_append(&r->packed, data, size);
	return 1;
}

jc_request *jc_request_open(jc_handle request, enum jc_kind kind, int32_t *status)
{
	jc_request *r = jc_handle_enter(request, kind);
	if (r == NULL) {
		*status = jc_bad_handle(JC_POINTER(void, request), type_of(kind));
		return NULL;
	}
	if (atomic_load(&r->frozen)) {
		jc_handle_leave(request);
		*status = jc_fail(JITCACHE_ERR_FROZEN, "%s: used already, nothing can be added", type_of(kind));
		return NULL;
	}
	return r;
}

static int32_t freeze(const jc_core *core, jc_request *r)
{
	int32_t status = JITCACHE_OK;
	jc_mutex_lock(&jc_freeze_lock);
	if (!atomic_load(&r->frozen)) {
		status = core->key_digest(r->source.data, r->source.size, r->digest);
		if (status == JITCACHE_OK)
			status = core->key_digest(r->packed.data, r->packed.size, r->digest + 32);
		if (status == JITCACHE_OK)
			atomic_store_explicit(&r->frozen, 1, memory_order_release);
	}
	jc_mutex_unlock(&jc_freeze_lock);
	return status;
}

/* enter_request freezes a request and enters it. */
static int32_t enter_request(jc_call *c, enum jc_kind kind)
{
	int32_t status = JITCACHE_OK;
	jc_request *r = jc_handle_enter(c->request, kind);
	if (r == NULL)
		return jc_bad_handle(JC_POINTER(void, c->request), type_of(kind));
	if (!atomic_load_explicit(&r->frozen, memory_order_acquire)) {
		jc_out out = {0};
		status = jc_finish(freeze(c->core, r), &out);
		if (status != JITCACHE_OK) {
			jc_handle_leave(c->request);
			return status;
		}
	}
	c->parts = (jc_parts){r->source.data, r->source.size, r->packed.data, r->packed.size, r->digest};
	return JITCACHE_OK;
}

int32_t jc_call_enter(jc_call *c, jitcache_cache *cache, jc_handle request, enum jc_kind kind)
{
	*c = (jc_call){.core = jc_core_get(), .cache = JC_HANDLE(cache), .request = request};
	jc_compile_log(NULL);
	if (c->core == NULL)
		return jc_no_core();
	int32_t status = enter_request(c, kind);
	if (status != JITCACHE_OK || cache == NULL)
		return status;
	jc_cache *entered = jc_handle_enter(c->cache, JC_CACHE);
	if (entered == NULL)
		status = jc_bad_handle(cache, "cache");
	else if ((c->cache_core = jc_cache_core(entered, c->core, &status)) == NULL)
		jc_handle_leave(c->cache);
	if (c->cache_core == NULL)
		jc_handle_leave(request);
	return status;
}

void jc_call_leave(jc_call *c)
{
	jc_handle_leave(c->request);
	if (c->cache != 0)
		jc_handle_leave(c->cache);
	jc_log_drain();
}

int32_t jc_call_give(const jc_call *c, int32_t status, jc_found *found, jitcache_blob **blob, const void **data,
	size_t *size, jitcache_key **key)
{
	if (found->blob != NULL) {
		if (data != NULL)
			*data = found->blob->data;
		if (size != NULL)
			*size = found->blob->size;
		status = jc_blob_handle(found->blob, c->cache, blob);
	} else if (found->sealed != NULL) {
		int32_t made = jc_key_from_sealed(found->sealed, found->nsealed, key);
		status = made == JITCACHE_OK ? status : made;
	}
	free(found->sealed);
	return status;
}
