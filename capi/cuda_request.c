/* cuda_request.c: what to compile, until the core reads it: the source, and the
 * other parts in a row, each a letter, a length and bytes
 * (jitcache_cuda_request_packed). The letters are those of cuda/request.go. */
#include "front.h"

#include <stdlib.h>
#include <string.h>

enum { HEAD = 1 + 8 };

static int add(jc_request *r, char letter, const void *data, size_t size)
{
	uint8_t head[HEAD] = {(uint8_t)letter};
	if (size > SIZE_MAX / 4 || !jc_bytes_reserve(&r->packed, HEAD + size))
		return 0;
	jc_put_little(head + 1, size, 8);
	jc_bytes_append(&r->packed, head, HEAD);
	jc_bytes_append(&r->packed, data, size);
	return 1;
}

static int add_text(jc_request *r, char letter, const char *text) { return add(r, letter, text, strlen(text)); }

/* add_variable adds what the environment says. */
static int add_variable(jc_request *r, char letter, const char *name)
{
	const char *value = getenv(name);
	return value == NULL || *value == 0 || add_text(r, letter, value);
}

/* add_packages adds the folder that the package of Python lies in, beside which
 * pip puts NVIDIA's wheels: that of jitcache/libjitcache.so. */
static int add_packages(jc_request *r)
{
	const char *path = jc_self_path(), *end = strrchr(path, '/');
	if (end == NULL)
		return 1;
	while (end > path && end[-1] != '/')
		end--;
	return end - path < 2 || add(r, 'p', path, (size_t)(end - path - 1));
}

void jc_request_destroy(void *object)
{
	jc_request *r = object;
	free(r->source.data);
	free(r->packed.data);
	free(r);
}

int32_t jitcache_cuda_request_new(const char *source, size_t size, const char *name, jitcache_cuda_request **out)
{
	if (source == NULL || out == NULL)
		return jc_fail(JITCACHE_ERR_ARGUMENT, "cuda request: NULL");
	*out = NULL;
	if (memchr(source, 0, size) != NULL)
		return jc_fail(JITCACHE_ERR_ARGUMENT, "cuda source: has a NUL");
	jc_request *r = calloc(1, sizeof *r);
	int ok = r != NULL && jc_bytes_reserve(&r->source, size) &&
	         add_text(r, 'N', name != NULL ? name : "kernel.cu") && add_variable(r, 'n', "JITCACHE_NVRTC") &&
	         add_variable(r, 'd', "JITCACHE_LIBCUDA") && add_variable(r, 'H', "CUDA_HOME") &&
	         add_variable(r, 'H', "CUDA_PATH") && add_packages(r);
	if (ok)
		jc_bytes_append(&r->source, source, size);
	jc_handle h = ok ? jc_slot_new(JC_REQUEST, r, (jc_extra){0}) : 0;
	if (h == 0) {
		if (r != NULL)
			jc_request_destroy(r);
		return jc_fail(JITCACHE_ERR_MEMORY, "cuda request: no memory");
	}
	*out = JC_TO(jitcache_cuda_request, h);
	return JITCACHE_OK;
}

void jitcache_cuda_request_free(jitcache_cuda_request *request)
{
	if (request != NULL && !jc_slot_close(JC_OF(request), JC_REQUEST))
		jc_bad_handle(request, "cuda request");
}

/* open_ enters a request that may still be built, or returns NULL and sets
 * status. */
static jc_request *open_(jitcache_cuda_request *request, int32_t *status)
{
	jc_request *r = jc_slot_enter(JC_OF(request), JC_REQUEST);
	if (r == NULL) {
		*status = jc_bad_handle(request, "cuda request");
		return NULL;
	}
	if (atomic_load(&r->frozen)) {
		jc_slot_leave(JC_OF(request));
		*status = jc_fail(JITCACHE_ERR_FROZEN, "cuda request: used already, nothing can be added");
		return NULL;
	}
	return r;
}

/* part adds one part, or two: a header is a name and a text. */
static int32_t part(jitcache_cuda_request *request, char letter, const char *text, const char *body, size_t size)
{
	int32_t status = JITCACHE_OK;
	if (text == NULL || (letter == 'h' && body == NULL))
		return jc_fail(JITCACHE_ERR_ARGUMENT, "cuda request: NULL");
	jc_request *r = open_(request, &status);
	if (r == NULL)
		return status;
	size_t before = r->packed.size;
	if (!add_text(r, letter, text) || (letter == 'h' && !add(r, 't', body, size))) {
		r->packed.size = before;
		status = jc_fail(JITCACHE_ERR_MEMORY, "cuda request: no memory");
	}
	jc_slot_leave(JC_OF(request));
	return status;
}

static int is_target(const char *text, size_t size)
{
	return (size == 5 && (memcmp(text, "cubin", 5) == 0 || memcmp(text, "ltoir", 5) == 0)) ||
	       (size == 3 && memcmp(text, "ptx", 3) == 0);
}

int32_t jitcache_cuda_request_target(jitcache_cuda_request *request, const char *target)
{
	if (target != NULL && !is_target(target, strlen(target)))
		return jc_fail(JITCACHE_ERR_ARGUMENT, "target \"%.40s\": want cubin, ptx or ltoir", target);
	return part(request, 'T', target, NULL, 0);
}

int32_t jitcache_cuda_request_option(jitcache_cuda_request *request, const char *option)
{
	return part(request, 'o', option, NULL, 0);
}

int32_t jitcache_cuda_request_header(jitcache_cuda_request *request, const char *name, const char *text, size_t size)
{
	if (text != NULL && memchr(text, 0, size) != NULL)
		return jc_fail(JITCACHE_ERR_ARGUMENT, "cuda header: has a NUL");
	return part(request, 'h', name, text, size);
}

int32_t jitcache_cuda_request_expression(jitcache_cuda_request *request, const char *expression)
{
	return part(request, 'e', expression, NULL, 0);
}

int32_t jitcache_cuda_request_library(jitcache_cuda_request *request, const char *what, const char *path)
{
	static const struct {
		const char *what;
		char letter;
	} known[] = {{"nvrtc", 'n'}, {"libcuda", 'd'}, {"packages", 'p'}};
	for (size_t i = 0; what != NULL && i < sizeof known / sizeof *known; i++)
		if (strcmp(what, known[i].what) == 0)
			return part(request, known[i].letter, path, NULL, 0);
	return jc_fail(JITCACHE_ERR_ARGUMENT, "cuda library \"%.40s\": want nvrtc, libcuda or packages",
		what != NULL ? what : "");
}

/* well_formed walks packed parts that a binding has made. */
static int well_formed(const uint8_t *p, size_t n)
{
	char before = 0;
	while (n >= HEAD) {
		char letter = (char)p[0];
		uint64_t size = jc_little(p + 1, 8);
		if (strchr("ohteTndp", letter) == NULL || letter == 0 || size > n - HEAD ||
			memchr(p + HEAD, 0, (size_t)size) != NULL)
			return 0;
		if ((letter == 't') != (before == 'h') ||
			(letter == 'T' && !is_target((const char *)p + HEAD, (size_t)size)))
			return 0;
		before = letter;
		p += HEAD + size;
		n -= HEAD + (size_t)size;
	}
	return n == 0 && before != 'h';
}

int32_t jitcache_cuda_request_packed(jitcache_cuda_request *request, const void *packed, size_t size)
{
	int32_t status = JITCACHE_OK;
	if (packed == NULL)
		return jc_fail(JITCACHE_ERR_ARGUMENT, "cuda request: NULL");
	if (!well_formed(packed, size))
		return jc_fail(JITCACHE_ERR_ARGUMENT, "cuda request: malformed parts");
	jc_request *r = open_(request, &status);
	if (r == NULL)
		return status;
	if (jc_bytes_reserve(&r->packed, size))
		jc_bytes_append(&r->packed, packed, size);
	else
		status = jc_fail(JITCACHE_ERR_MEMORY, "cuda request: no memory");
	jc_slot_leave(JC_OF(request));
	return status;
}

static int32_t freeze(const jc_core *core, jc_request *r)
{
	int32_t status = JITCACHE_OK;
	pthread_mutex_lock(&jc_seal_lock);
	if (!atomic_load(&r->frozen)) {
		status = core->key_digest(r->source.data, r->source.size, r->digest);
		if (status == JITCACHE_OK)
			status = core->key_digest(r->packed.data, r->packed.size, r->digest + 32);
		if (status == JITCACHE_OK)
			atomic_store_explicit(&r->frozen, 1, memory_order_release);
	}
	pthread_mutex_unlock(&jc_seal_lock);
	return status;
}

jc_request *jc_request_enter(
	const jc_core *core, jc_handle request, enum jc_kind kind, const char *type, int32_t *status)
{
	jc_request *r = jc_slot_enter(request, kind);
	if (r == NULL) {
		*status = jc_bad_handle(JC_TO(void, request), type);
		return NULL;
	}
	if (!atomic_load_explicit(&r->frozen, memory_order_acquire)) {
		jc_out out = {0};
		*status = jc_finish(freeze(core, r), &out);
		if (*status != JITCACHE_OK) {
			jc_slot_leave(request);
			return NULL;
		}
	}
	return r;
}
