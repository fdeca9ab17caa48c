/* libcuda.c: a driver for machines without a GPU.
 *
 *	cc -shared -fPIC -pthread -fvisibility=hidden -Wl,-soname,libcuda.so.1 \
 *		-o libcuda.so.1 libcuda.c driver.c image.c knobs.c -ldl
 *
 * It keeps contexts, each current per thread. It accepts cubins and PTX for the compute
 * capability that it plays, and refuses all other images. It finds functions in a cubin's
 * symbol table, and logs each call. It launches nothing.
 *
 * Knobs are environment variables, read at each call:
 *
 *	FAKECUDA_DEVICES	how many devices, default 1
 *	FAKECUDA_CC		compute capability, 80; "80,90": one per device
 *	FAKECUDA_VERSION	the driver's version, 13050
 *	FAKECUDA_LOG		file to which each call appends its name, and the
 *				code that it must fail with: "cuInit", "cuInit 100"
 *	FAKECUDA_FAIL		"cuInit=100", "cuModuleLoadDataEx=209:2,…": calls
 *				fail, always or so many times
 *
 * -DFAKECUDA_OLD builds a driver before 12.0, without cuCtxGetId.
 *
 * Like the real driver, it reuses the pointer of a destroyed context, a context takes its
 * modules with it, a module is unloaded in its own context, and a forked child has no
 * driver.
 */
#define _GNU_SOURCE
#include "driver.h"
#include "knobs.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#define API __attribute__((visibility("default")))

/* The driver's functions, in the order of its header. */

API int cuGetErrorName(int code, const char **out)
{
#define NAME(name, n, text) \
	if (code == n) \
		return *out = "CUDA_" #name, SUCCESS;
	ERRORS(NAME)
	*out = NULL;
	return ERROR_INVALID_VALUE;
}

API int cuGetErrorString(int code, const char **out)
{
#define TEXT(name, n, text) \
	if (code == n) \
		return *out = text, SUCCESS;
	ERRORS(TEXT)
	*out = NULL;
	return ERROR_INVALID_VALUE;
}

API int cuInit(unsigned flags)
{
	ENTER(0);
	if (flags != 0)
		return leave(ERROR_INVALID_VALUE);
	if (knob_number("FAKECUDA_DEVICES", 1) == 0)
		return leave(ERROR_NO_DEVICE);
	return leave(init());
}

API int cuDriverGetVersion(int *version)
{
	ENTER(0);
	*version = knob_number("FAKECUDA_VERSION", 13050);
	return leave(SUCCESS);
}

API int cuDeviceGet(int *device, int ordinal)
{
	ENTER(1);
	*device = ordinal;
	return leave(is_device(ordinal) ? SUCCESS : ERROR_INVALID_DEVICE);
}

API int cuDeviceGetCount(int *count)
{
	ENTER(1);
	*count = knob_number("FAKECUDA_DEVICES", 1);
	return leave(SUCCESS);
}

API int cuDeviceGetName(char *name, int size, int device)
{
	ENTER(1);
	snprintf(name, (size_t)size, "fake %d", device);
	return leave(is_device(device) ? SUCCESS : ERROR_INVALID_DEVICE);
}

API int cuDeviceGetAttribute(int *value, int attribute, int device)
{
	enum { MAJOR = 75, MINOR = 76 };
	ENTER(1);
	int cc = capability(device);
	*value = attribute == MAJOR ? cc / 10 : attribute == MINOR ? cc % 10 : 0;
	return leave(is_device(device) ? SUCCESS : ERROR_INVALID_DEVICE);
}

API int cuDevicePrimaryCtxRetain(context **out, int device)
{
	ENTER(1);
	if (!is_device(device))
		return leave(ERROR_INVALID_DEVICE);
	if ((*out = primary(device)) != NULL)
		(*out)->refs++;
	else
		*out = make(device, 1);
	return leave(*out != NULL ? SUCCESS : ERROR_OUT_OF_MEMORY);
}

API int cuDevicePrimaryCtxRelease_v2(int device)
{
	ENTER(1);
	context *c = primary(device);
	if (c != NULL && --c->refs == 0)
		destroy(c);
	return leave(c != NULL ? SUCCESS : ERROR_INVALID_CONTEXT);
}

API int cuDevicePrimaryCtxReset_v2(int device)
{
	ENTER(1);
	context *c = primary(device);
	if (c != NULL)
		destroy(c);
	return leave(SUCCESS);
}

API int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active)
{
	ENTER(1);
	*flags = 0;
	*active = primary(device) != NULL;
	return leave(SUCCESS);
}

API int cuCtxCreate_v2(context **out, unsigned flags, int device)
{
	ENTER(1);
	(void)flags;
	if (!is_device(device))
		return leave(ERROR_INVALID_DEVICE);
	*out = make(device, 0);
	return leave(*out != NULL ? push(*out) : ERROR_OUT_OF_MEMORY);
}

API int cuCtxCreate_v4(context **out, void *parameters, unsigned flags, int device)
{
	(void)parameters;
	return cuCtxCreate_v2(out, flags, device);
}

API int cuCtxDestroy_v2(context *c)
{
	ENTER(1);
	if (!is_context(c))
		return leave(ERROR_INVALID_CONTEXT);
	context *top;
	int on_top = current(&top) == SUCCESS && top == c;
	destroy(c);
	if (on_top)
		pop(NULL);
	return leave(SUCCESS);
}

API int cuCtxPushCurrent_v2(context *c)
{
	ENTER(1);
	return leave(is_context(c) ? push(c) : ERROR_INVALID_CONTEXT);
}

API int cuCtxPopCurrent_v2(context **out)
{
	ENTER(1);
	return leave(pop(out) ? SUCCESS : ERROR_INVALID_CONTEXT);
}

API int cuCtxSetCurrent(context *c)
{
	ENTER(1);
	if (c != NULL && !is_context(c))
		return leave(ERROR_INVALID_CONTEXT);
	pop(NULL);
	return leave(c != NULL ? push(c) : SUCCESS);
}

API int cuCtxGetCurrent(context **out)
{
	ENTER(1);
	if (current(out) == ERROR_INVALID_CONTEXT)
		*out = NULL;
	return leave(SUCCESS);
}

API int cuCtxGetDevice(int *device)
{
	context *c;
	ENTER(1);
	int code = current(&c);
	if (code == SUCCESS)
		*device = c->device;
	return leave(code);
}

#ifndef FAKECUDA_OLD
API int cuCtxGetId(context *c, unsigned long long *id)
{
	ENTER(1);
	int code = c == NULL ? current(&c) : is_context(c) ? SUCCESS : ERROR_CONTEXT_IS_DESTROYED;
	if (code == SUCCESS)
		*id = c->id;
	return leave(code);
}
#endif

API int cuModuleLoadDataEx(module **out, const void *image, unsigned n, const int *options, void **values)
{
	context *c;
	ENTER(1);
	int code = current(&c);
	return leave(code == SUCCESS ? load(out, image, c, n, options, values) : code);
}

API int cuModuleLoadData(module **out, const void *image)
{
	context *c;
	ENTER(1);
	int code = current(&c);
	return leave(code == SUCCESS ? load(out, image, c, 0, NULL, NULL) : code);
}

API int cuModuleUnload(module *m)
{
	context *c;
	ENTER(1);
	int code = current(&c);
	if (code == SUCCESS && !is_live(m))
		code = ERROR_INVALID_HANDLE;
	if (code == SUCCESS && m->owner != c)
		code = ERROR_INVALID_CONTEXT;
	if (code == SUCCESS)
		drop(m);
	return leave(code);
}

API int cuModuleGetFunction(function **out, module *m, const char *name)
{
	ENTER(1);
	return leave(find_function(out, m, name));
}

API int cuLibraryLoadData(module **out, const void *image, const int *options, void **values, unsigned n,
	const int *library_options, void **library_values, unsigned more)
{
	(void)library_options;
	(void)library_values;
	(void)more;
	ENTER(1);
	return leave(load(out, image, NULL, n, options, values));
}

API int cuLibraryUnload(module *m)
{
	ENTER(1);
	if (!is_live(m))
		return leave(ERROR_INVALID_HANDLE);
	drop(m);
	return leave(SUCCESS);
}

API int cuLibraryGetKernel(function **out, module *m, const char *name)
{
	ENTER(1);
	return leave(find_function(out, m, name));
}

API int cuKernelGetFunction(function **out, function *kernel)
{
	ENTER(1);
	*out = kernel;
	return leave(SUCCESS);
}

/* NVRTC and the runtime ask for undocumented tables; without the function they crash. */
API int cuGetExportTable(const void **table, const void *id)
{
	(void)id;
	ENTER(0);
	if (table != NULL)
		*table = NULL;
	return leave(ERROR_NOT_SUPPORTED);
}

static int unsupported(void)
{
	ENTER(0);
	return leave(ERROR_NOT_SUPPORTED);
}

/* Every name resolves, because bindings expect that of a new driver: to the latest version
 * of the function that the caller may know, or to a function that is not supported. */
API int cuGetProcAddress_v2(const char *name, void **out, int version, uint64_t flags, int *status)
{
	static const char *const suffixes[] = {"_v4", "_v2", ""};
	Dl_info self;
	(void)flags;
	if (name == NULL || out == NULL)
		return ERROR_INVALID_VALUE;
	if (status != NULL)
		*status = 0;
	void *library = dladdr((void *)&cuInit, &self) != 0 ? dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
	*out = NULL;
	for (int i = version < 13000; library != NULL && *out == NULL && i < 3; i++) {
		char full[128];
		snprintf(full, sizeof full, "%s%s", name, suffixes[i]);
		*out = dlsym(library, full);
	}
	if (library != NULL)
		dlclose(library);
	if (*out == NULL)
		*out = (void *)&unsupported;
	return SUCCESS;
}

API int cuGetProcAddress(const char *name, void **out, int version, uint64_t flags)
{
	return cuGetProcAddress_v2(name, out, version, flags, NULL);
}
