/* native.c: from a request to a key or a result: the core is asked, and where it
 * has a question for the compiler, the compiler. */
#include <stdlib.h>
#include <string.h>

#include "core.h"
#include "handles.h"
#include "native_run.h"
#include "request.h"
#include "thread.h"

/* What the core can want to know at most: two toolchains, the programs of each
 * (maxPrograms in native/), the files, and each again because something
 * changed meanwhile. */
enum { QUESTIONS = 80 };

/* ask has the compiler answer a question, and tells the core. */
static int32_t ask(jc_call *c, const char *question, size_t size)
{
	jc_answer answer = {0};
	size_t about = strlen(question) + 1;
	int32_t status = jc_native_ask(&c->parts, question + about, size - about, &answer);
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
static int32_t look(jc_call *c, int32_t want, jc_found *f)
{
	for (int i = 0; i < QUESTIONS; i++) {
		jc_out out = {0};
		char *question = NULL; /* what it is about, then words, each ended by a NUL */
		size_t size = 0;
		int32_t status = c->core->native_lookup(
			c->cache_core, &c->parts, want, &f->blob, &f->sealed, &f->nsealed, &question, &size, &out);
		status = jc_finish(status, &out);
		if (question == NULL)
			return status;
		status = ask(c, question, size);
		free(question);
		if (status != JITCACHE_OK)
			return status;
	}
	return jc_fail(JITCACHE_ERR_REFUSED, "the files that the compiler reads do not rest");
}

int32_t jitcache_native_lookup(jitcache_cache *cache, jitcache_native_request *request, jitcache_blob **blob,
	const void **data, size_t *size, jitcache_key **key)
{
	jc_call c;
	jc_found found = {0};
	jc_thread_unwind();
	if (cache == NULL || blob == NULL || key == NULL)
		return jc_fail(JITCACHE_ERR_ARGUMENT, "native lookup: NULL");
	*blob = NULL;
	*key = NULL;
	int32_t status = jc_call_enter(&c, cache, JC_HANDLE(request), JC_NATIVE);
	if (status != JITCACHE_OK)
		return status;
	status = jc_call_give(&c, look(&c, 1, &found), &found, blob, data, size, key);
	jc_call_leave(&c);
	return status;
}

int32_t jitcache_native_key(jitcache_cache *cache, jitcache_native_request *request, jitcache_key **key)
{
	jc_call c;
	jc_found found = {0};
	jc_thread_unwind();
	if (key == NULL)
		return jc_fail(JITCACHE_ERR_ARGUMENT, "native key: NULL");
	*key = NULL;
	int32_t status = jc_call_enter(&c, cache, JC_HANDLE(request), JC_NATIVE);
	if (status != JITCACHE_OK)
		return status;
	status = jc_call_give(&c, look(&c, 0, &found), &found, NULL, NULL, NULL, key);
	jc_call_leave(&c);
	return status;
}

const char *jitcache_native_last_log(void) { return jitcache_cuda_last_log(); }
