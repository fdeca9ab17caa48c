/* calls.c: opens the driver; loads, searches and unloads modules, each in the context that it
 * belongs to. */
#include "calls.h"

#include <stddef.h>

#define NAME(optional, name, arguments) optional #name,
const char *const jc_driver_names[JC_DRIVER_COUNT] = {JC_DRIVER_CALLS(NAME)};

/* TRY calls a function of the driver, and returns from ours if it fails. */
#define TRY(name, ...) \
	do { \
		int code_ = d->name(__VA_ARGS__); \
		if (code_ != 0) \
			return (jc_failure){code_, #name}; \
	} while (0)

static const jc_failure none = {0, NULL};

jc_failure jc_driver_init(const jc_driver *d)
{
	TRY(cuInit, 0);
	return none;
}

void jc_driver_text(const jc_driver *d, int code, const char **name, const char **text)
{
	if (d->cuGetErrorName(code, name) != 0)
		*name = NULL;
	if (d->cuGetErrorString(code, text) != 0)
		*text = NULL;
}

jc_failure jc_driver_context(const jc_driver *d, jc_context *out)
{
	unsigned long long id = 0;
	TRY(cuCtxGetCurrent, &out->pointer);
	if (out->pointer != NULL && d->cuCtxGetId != NULL)
		TRY(cuCtxGetId, out->pointer, &id);
	out->id = id;
	return none;
}

jc_failure jc_driver_device(const jc_driver *d, int *device)
{
	int code = d->cuCtxGetDevice(device);
	if (code == JC_CUDA_INVALID_CONTEXT) /* there is none */
		TRY(cuDeviceGet, device, 0);
	else if (code != 0)
		return (jc_failure){code, "cuCtxGetDevice"};
	return none;
}

jc_failure jc_driver_capability(const jc_driver *d, int device, int *major, int *minor)
{
	enum { MAJOR = 75, MINOR = 76 };
	TRY(cuDeviceGetAttribute, major, MAJOR, device);
	TRY(cuDeviceGetAttribute, minor, MINOR, device);
	return none;
}

jc_failure jc_driver_load(const jc_driver *d, const void *image, void **module, char *log, unsigned size)
{
	enum { ERROR_LOG = 5, ERROR_LOG_SIZE = 6 };
	int options[] = {ERROR_LOG, ERROR_LOG_SIZE};
	void *values[] = {log, (void *)(uintptr_t)(size - 1)};
	log[0] = log[size - 1] = 0;
	TRY(cuModuleLoadDataEx, module, image, 2, options, values);
	return none;
}

/* enter makes a context current. It pushes the context only if it is not current. */
static jc_failure enter(const jc_driver *d, jc_context in, int *pushed)
{
	void *now = NULL;
	unsigned long long id = in.id;
	*pushed = 0;
	if (d->cuCtxGetId != NULL)
		TRY(cuCtxGetId, in.pointer, &id);
	if (id != in.id) /* another context has its pointer now */
		return (jc_failure){JC_CUDA_CONTEXT_IS_DESTROYED, "cuCtxGetId"};
	TRY(cuCtxGetCurrent, &now);
	if (now == in.pointer)
		return none;
	TRY(cuCtxPushCurrent_v2, in.pointer);
	*pushed = 1;
	return none;
}

/* leave undoes enter. It returns the failure before it, else its own. */
static jc_failure leave(const jc_driver *d, int pushed, jc_failure before)
{
	void *popped;
	if (!pushed)
		return before;
	int code = d->cuCtxPopCurrent_v2(&popped);
	return before.code != 0 || code == 0 ? before : (jc_failure){code, "cuCtxPopCurrent_v2"};
}

jc_failure jc_driver_function(const jc_driver *d, jc_context in, void *module, const char *name, void **out)
{
	int pushed;
	jc_failure f = enter(d, in, &pushed);
	if (f.code != 0)
		return f;
	int code = d->cuModuleGetFunction(out, module, name);
	return leave(d, pushed, (jc_failure){code, "cuModuleGetFunction"});
}

jc_failure jc_driver_unload(const jc_driver *d, jc_context in, void *module)
{
	int pushed;
	jc_failure f = enter(d, in, &pushed);
	if (f.code != 0)
		return f;
	int code = d->cuModuleUnload(module);
	return leave(d, pushed, (jc_failure){code, "cuModuleUnload"});
}
