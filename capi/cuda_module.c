/* cuda_module.c: code that the driver has loaded. */
#include <stdlib.h>

#include "core.h"
#include "handles.h"
#include "request.h"
#include "runtime.h"
#include "thread.h"

typedef struct module {
	void *core; /* a pointer of pointer.go */
	void *handle;
	uint32_t generation; /* of the core; a forked child cannot use its parent's driver */
} module;

static void destroy(void *object, jc_extra *extra)
{
	(void)extra;
	module *m = object;
	if (m->core != NULL && m->generation == jc_core_generation()) {
		const jc_core *core = jc_core_running();
		if (core != NULL)
			core->cuda_unload(m->core);
	}
	free(m);
}

static int32_t publish(module made, jitcache_cuda_module **out)
{
	module *m = malloc(sizeof *m);
	jc_handle h = 0;
	if (m != NULL) {
		*m = made;
		h = jc_handle_new(JC_MODULE, m, (jc_extra){0}, destroy);
	}
	if (h == 0) {
		jc_core_running()->cuda_unload(made.core);
		free(m);
		return jc_fail(JITCACHE_ERR_MEMORY, "cuda module: no memory");
	}
	*out = JC_POINTER(jitcache_cuda_module, h);
	return JITCACHE_OK;
}

/* load loads a blob. *refused says that the driver has refused it. */
static int32_t load(jitcache_cuda_request *request, jitcache_blob *blob, jitcache_cuda_module **out, int32_t *refused)
{
	jc_call c;
	*out = NULL;
	*refused = 0;
	int32_t status = jc_call_enter(&c, NULL, JC_HANDLE(request), JC_REQUEST);
	if (status != JITCACHE_OK)
		return status;
	jc_blob *b = jc_handle_enter(JC_HANDLE(blob), JC_BLOB);
	if (b == NULL) {
		status = jc_bad_handle(blob, "blob");
	} else {
		module m = {.generation = jc_core_generation()};
		jc_out result = {0};
		status = c.core->cuda_load(&c.parts, b, &m.core, &m.handle, refused, &result);
		status = jc_finish(status, &result);
		if (status == JITCACHE_OK)
			status = publish(m, out);
		jc_handle_leave(JC_HANDLE(blob));
	}
	jc_call_leave(&c);
	return status;
}

int32_t jitcache_cuda_load_blob(jitcache_cuda_request *request, jitcache_blob *blob, jitcache_cuda_module **out)
{
	int32_t refused;
	jc_thread_unwind();
	if (out == NULL)
		return jc_fail(JITCACHE_ERR_ARGUMENT, "cuda load: NULL");
	return load(request, blob, out, &refused);
}

/* drop removes the code of a request from the cache. */
static int32_t drop(jitcache_cache *cache, jitcache_cuda_request *request)
{
	jitcache_key *key;
	int32_t status = jitcache_cuda_key(cache, request, &key);
	if (status != JITCACHE_OK)
		return status;
	status = jitcache_remove(cache, key);
	jitcache_key_free(key);
	return status;
}

/* compile_and_load makes one attempt of jitcache_cuda_load. */
static int32_t compile_and_load(jitcache_cache *cache, jitcache_cuda_request *request, int64_t timeout_ms,
	jitcache_cuda_module **out, int32_t *refused)
{
	jitcache_blob *blob;
	*refused = 0;
	int32_t compiled = jitcache_cuda_compile(cache, request, timeout_ms, &blob);
	if (compiled < 0)
		return compiled;
	int32_t status = load(request, blob, out, refused);
	jitcache_blob_release(blob);
	return status == JITCACHE_OK ? compiled : status;
}

int32_t jitcache_cuda_load(
	jitcache_cache *cache, jitcache_cuda_request *request, int64_t timeout_ms, jitcache_cuda_module **out)
{
	int32_t refused;
	jc_thread_unwind();
	if (out == NULL)
		return jc_fail(JITCACHE_ERR_ARGUMENT, "cuda load: NULL");
	*out = NULL;
	int32_t status = compile_and_load(cache, request, timeout_ms, out, &refused);
	/* If the entry cannot be removed, a second attempt would find it again. */
	if (refused && cache != NULL && drop(cache, request) >= 0)
		status = compile_and_load(cache, request, timeout_ms, out, &refused);
	return status;
}

int32_t jitcache_cuda_function(jitcache_cuda_module *handle, const char *name, void **function)
{
	jc_thread_unwind();
	if (name == NULL || function == NULL)
		return jc_fail(JITCACHE_ERR_ARGUMENT, "cuda function: NULL");
	*function = NULL;
	module *m = jc_handle_enter(JC_HANDLE(handle), JC_MODULE);
	if (m == NULL)
		return jc_bad_handle(handle, "cuda module");
	int32_t status;
	const jc_core *core = jc_core_get();
	if (core == NULL) {
		status = jc_no_core();
	} else if (m->generation != jc_core_generation()) {
		status = jc_fail(JITCACHE_ERR_DRIVER, "cuda module: loaded before the fork, by the parent");
	} else {
		jc_out out = {0};
		status = jc_finish(core->cuda_function(m->core, (char *)name, function, &out), &out);
	}
	jc_handle_leave(JC_HANDLE(handle));
	return status;
}

int32_t jitcache_cuda_get_function(jitcache_cache *cache, jitcache_cuda_request *request, int64_t timeout_ms,
	const char *name, jitcache_cuda_module **out, void **function)
{
	if (name == NULL || function == NULL)
		return jc_fail(JITCACHE_ERR_ARGUMENT, "cuda function: NULL");
	int32_t status = jitcache_cuda_load(cache, request, timeout_ms, out);
	if (status < 0)
		return status;
	int32_t found = jitcache_cuda_function(*out, name, function);
	if (found != JITCACHE_OK) {
		jitcache_cuda_module_free(*out);
		*out = NULL;
		return found;
	}
	return status;
}

void *jitcache_cuda_module_handle(jitcache_cuda_module *handle)
{
	module *m = jc_handle_peek(JC_HANDLE(handle), JC_MODULE);
	if (m == NULL)
		jc_bad_handle(handle, "cuda module");
	return m == NULL ? NULL : m->handle;
}

void jitcache_cuda_module_free(jitcache_cuda_module *handle)
{
	if (handle != NULL && !jc_handle_close(JC_HANDLE(handle), JC_MODULE))
		jc_bad_handle(handle, "cuda module");
}
