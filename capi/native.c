/* native.c: from a request to a key or a result: the core is asked, and where it
 * has a question for the compiler, the compiler. */
#include "front.h"

#include <stdlib.h>
#include <string.h>

/* What the core can want to know at most: two toolchains, the files, and each
 * again because something changed meanwhile. */
enum { QUESTIONS = 8 };

typedef struct call {
	const jc_core *core;
	jitcache_cache *cache;
	jitcache_native_request *request;
	void *cache_core; /* NULL without a cache */
	jc_parts parts;
} call;

/* found is what a lookup can give. */
typedef struct found {
	jc_blob *blob;
	uint8_t *sealed;
	size_t nsealed;
	char *question; /* a language, then words, each ended by a NUL */
	size_t nquestion;
} found;

static int32_t enter(call *c, jitcache_cache *cache, jitcache_native_request *request)
{
	*c = (call){.core = jc_core_enter(), .cache = cache, .request = request};
	jc_compile_log(NULL);
	if (c->core == NULL)
		return jc_no_core();
	int32_t status = JITCACHE_OK;
	jc_request *r = jc_request_enter(c->core, JC_OF(request), JC_NATIVE, "native request", &status);
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

static void leave(call *c)
{
	jc_slot_leave(JC_OF(c->request));
	if (c->cache != NULL)
		jc_slot_leave(JC_OF(c->cache));
	jc_log_drain();
}

/* ask has the compiler answer a question, and tells the core. */
static int32_t ask(call *c, const char *question, size_t size)
{
	jc_answer answer = {0};
	size_t language = strlen(question) + 1;
	int32_t status = jc_native_ask(&c->parts, question + language, size - language, &answer);
	if (status == JITCACHE_OK) {
		jc_out out = {0};
		char *log = NULL;
		status = c->core->native_answer(c->cache_core, &c->parts, (char *)question, &answer, &log, &out);
		status = jc_finish(status, &out);
		jc_compile_log(log);
	}
	free(answer.out.data);
	free(answer.log.data);
	return status;
}

/* look asks the core until it has no questions left. */
static int32_t look(call *c, int32_t want, found *f)
{
	for (int i = 0; i < QUESTIONS; i++) {
		jc_out out = {0};
		*f = (found){0};
		int32_t status = c->core->native_lookup(c->cache_core, &c->parts, want, &f->blob, &f->sealed,
			&f->nsealed, &f->question, &f->nquestion, &out);
		status = jc_finish(status, &out);
		if (f->question == NULL)
			return status;
		status = ask(c, f->question, f->nquestion);
		free(f->question);
		if (status != JITCACHE_OK)
			return status;
	}
	return jc_fail(JITCACHE_ERR_REFUSED, "the files that the compiler reads do not rest");
}

int32_t jitcache_native_lookup(jitcache_cache *cache, jitcache_native_request *request, jitcache_blob **blob,
	const void **data, size_t *size, jitcache_key **key)
{
	call c;
	found f;
	jc_thread_unwind();
	if (cache == NULL || blob == NULL || key == NULL)
		return jc_fail(JITCACHE_ERR_ARGUMENT, "native lookup: NULL");
	*blob = NULL;
	*key = NULL;
	int32_t status = enter(&c, cache, request);
	if (status != JITCACHE_OK)
		return status;
	status = look(&c, 1, &f);
	if (status == JITCACHE_OK) {
		if (data != NULL)
			*data = f.blob->data;
		if (size != NULL)
			*size = f.blob->size;
		status = jc_blob_handle(f.blob, JC_OF(cache), blob);
	} else if (status == JITCACHE_MISS) {
		int32_t made = jc_key_of(f.sealed, f.nsealed, key);
		status = made == JITCACHE_OK ? status : made;
		free(f.sealed);
	}
	leave(&c);
	return status;
}

int32_t jitcache_native_key(jitcache_cache *cache, jitcache_native_request *request, jitcache_key **key)
{
	call c;
	found f;
	jc_thread_unwind();
	if (key == NULL)
		return jc_fail(JITCACHE_ERR_ARGUMENT, "native key: NULL");
	*key = NULL;
	int32_t status = enter(&c, cache, request);
	if (status != JITCACHE_OK)
		return status;
	status = look(&c, 0, &f);
	if (status == JITCACHE_OK) {
		status = jc_key_of(f.sealed, f.nsealed, key);
		free(f.sealed);
	}
	leave(&c);
	return status;
}

const char *jitcache_native_last_log(void) { return jitcache_cuda_last_log(); }
