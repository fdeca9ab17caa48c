/* native_request.c: what to compile, or which command to run. The letters of the
 * parts are those of native/request.go. */
#include <stdlib.h>
#include <string.h>

#include "core.h"
#include "handles.h"
#include "request.h"
#include "thread.h"

int32_t jitcache_native_request_new(jitcache_native_request **out)
{
	if (out == NULL)
		return jc_fail(JITCACHE_ERR_ARGUMENT, "native request: NULL");
	*out = NULL;
	jc_request *r = calloc(1, sizeof *r);
	jc_handle h = jc_request_publish(r, JC_NATIVE, r != NULL);
	if (h == 0)
		return JITCACHE_ERR_MEMORY;
	*out = JC_POINTER(jitcache_native_request, h);
	return JITCACHE_OK;
}

void jitcache_native_request_free(jitcache_native_request *request)
{
	jc_request_release(JC_HANDLE(request), JC_NATIVE);
}

int32_t jitcache_native_request_add(jitcache_native_request *request, int32_t part, const void *data, size_t size)
{
	if (data == NULL || part <= 0 || part > 127 || strchr("colkfstuaOTdeEvLUNKxy", part) == NULL)
		return jc_fail(
			JITCACHE_ERR_ARGUMENT, data == NULL ? "native request: NULL" : "native request: unknown part");
	if (part != 't' && part != 'u' && part != 'y' && memchr(data, 0, size) != NULL)
		return jc_fail(JITCACHE_ERR_ARGUMENT, "native request: has a NUL");
	int32_t status = JITCACHE_OK;
	jc_request *r = jc_request_open(JC_HANDLE(request), JC_NATIVE, &status);
	if (r == NULL)
		return status;
	if (!jc_request_add(r, (char)part, data, size))
		status = jc_fail(JITCACHE_ERR_MEMORY, "native request: no memory");
	jc_handle_leave(JC_HANDLE(request));
	return status;
}
