/* cuda_request.c: what NVRTC is to compile: the source, and parts whose letters
 * are those of cuda/request.go (jitcache_cuda_request_packed). */
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "second_runtime.h"
#include "core.h"
#include "handles.h"
#include "request.h"
#include "thread.h"

static int add_text(jc_request *r, char letter, const char *text)
{
	return jc_request_add(r, letter, text, strlen(text));
}

/* add_variable adds the value of an environment variable, if there is one. */
static int add_variable(jc_request *r, char letter, const char *name)
{
	const char *value = getenv(name);
	return value == NULL || *value == 0 || add_text(r, letter, value);
}

/* add_packages adds the folder above that of this library. In a Python installation,
 * where the library is jitcache/libjitcache.so, pip puts NVIDIA's wheels there. */
static int add_packages(jc_request *r)
{
	const char *path = jc_library_path(), *end = strrchr(path, '/');
	if (end == NULL)
		return 1;
	while (end > path && end[-1] != '/')
		end--;
	return end - path < 2 || jc_request_add(r, 'p', path, (size_t)(end - path - 1));
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
	jc_handle h = jc_request_publish(r, JC_REQUEST, ok);
	if (h == 0)
		return JITCACHE_ERR_MEMORY;
	*out = JC_POINTER(jitcache_cuda_request, h);
	return JITCACHE_OK;
}

void jitcache_cuda_request_free(jitcache_cuda_request *request) { jc_request_release(JC_HANDLE(request), JC_REQUEST); }

/* part adds one part, or two: a header is a name and a text. */
static int32_t part(jitcache_cuda_request *request, char letter, const char *text, const char *body, size_t size)
{
	int32_t status = JITCACHE_OK;
	if (text == NULL || (letter == 'h' && body == NULL))
		return jc_fail(JITCACHE_ERR_ARGUMENT, "cuda request: NULL");
	jc_request *r = jc_request_open(JC_HANDLE(request), JC_REQUEST, &status);
	if (r == NULL)
		return status;
	size_t before = r->packed.size;
	if (!add_text(r, letter, text) || (letter == 'h' && !jc_request_add(r, 't', body, size))) {
		r->packed.size = before;
		status = jc_fail(JITCACHE_ERR_MEMORY, "cuda request: no memory");
	}
	jc_handle_leave(JC_HANDLE(request));
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
	while (n >= JC_PART_HEAD) {
		char letter = (char)p[0];
		uint64_t size = jc_little(p + 1, 8);
		if (strchr("ohteTndpk", letter) == NULL || letter == 0 || size > n - JC_PART_HEAD ||
			memchr(p + JC_PART_HEAD, 0, (size_t)size) != NULL)
			return 0;
		if ((letter == 't') != (before == 'h') ||
			(letter == 'T' && !is_target((const char *)p + JC_PART_HEAD, (size_t)size)))
			return 0;
		before = letter;
		p += JC_PART_HEAD + size;
		n -= JC_PART_HEAD + (size_t)size;
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
	jc_request *r = jc_request_open(JC_HANDLE(request), JC_REQUEST, &status);
	if (r == NULL)
		return status;
	if (jc_bytes_reserve(&r->packed, size))
		jc_bytes_append(&r->packed, packed, size);
	else
		status = jc_fail(JITCACHE_ERR_MEMORY, "cuda request: no memory");
	jc_handle_leave(JC_HANDLE(request));
	return status;
}
