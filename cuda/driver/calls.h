/* calls.h: the driver's functions, and sequences of calls to them. */
#ifndef JC_DRIVER_CALLS_H
#define JC_DRIVER_CALLS_H

#include <stdint.h>

/* The functions, as the driver has them since CUDA 4; "?" is for one that older
 * drivers lack. */
#define JC_DRIVER_CALLS(X) \
	X("", cuInit, (unsigned flags)) \
	X("", cuGetErrorName, (int code, const char **name)) \
	X("", cuGetErrorString, (int code, const char **text)) \
	X("", cuDeviceGet, (int *device, int ordinal)) \
	X("", cuDeviceGetAttribute, (int *value, int attribute, int device)) \
	X("", cuCtxGetCurrent, (void **context)) \
	X("", cuCtxPushCurrent_v2, (void *context)) \
	X("", cuCtxPopCurrent_v2, (void **context)) \
	X("", cuCtxGetDevice, (int *device)) \
	X("", cuModuleLoadDataEx, (void **module, const void *image, unsigned n, int *options, void **values)) \
	X("", cuModuleGetFunction, (void **function, void *module, const char *name)) \
	X("", cuModuleUnload, (void *module)) \
	X("?", cuCtxGetId, (void *context, unsigned long long *id))

#define JC_FIELD(optional, name, arguments) int(*name) arguments;
#define JC_COUNT(optional, name, arguments) +1
enum { JC_DRIVER_COUNT = JC_DRIVER_CALLS(JC_COUNT) };

/* Function pointers and nothing else, in the order of jc_driver_names. */
typedef struct jc_driver {
	JC_DRIVER_CALLS(JC_FIELD)
} jc_driver;

extern const char *const jc_driver_names[JC_DRIVER_COUNT];

/* The driver's result codes that are used. */
enum {
	JC_CUDA_NOT_INITIALIZED = 3,
	JC_CUDA_DEINITIALIZED = 4,
	JC_CUDA_INVALID_IMAGE = 200,
	JC_CUDA_INVALID_CONTEXT = 201,
	JC_CUDA_NO_BINARY_FOR_GPU = 209,
	JC_CUDA_INVALID_PTX = 218,
	JC_CUDA_UNSUPPORTED_PTX_VERSION = 222,
	JC_CUDA_UNSUPPORTED_DEVSIDE_SYNC = 225,
	JC_CUDA_INVALID_SOURCE = 300,
	JC_CUDA_SHARED_OBJECT_SYMBOL_NOT_FOUND = 302,
	JC_CUDA_SHARED_OBJECT_INIT_FAILED = 303,
	JC_CUDA_INVALID_HANDLE = 400,
	JC_CUDA_CONTEXT_IS_DESTROYED = 709,
};

/* A context: its pointer, which the driver may reuse, and its id, which it does not
 * reuse; 0 if the driver has no ids. */
typedef struct jc_context {
	void *pointer;
	uint64_t id;
} jc_context;

/* What failed: a function of the driver, and its result. */
typedef struct jc_failure {
	int code; /* 0: nothing failed */
	const char *call;
} jc_failure;

jc_failure jc_driver_init(const jc_driver *d);

/* jc_driver_text returns a code's name and text, NULL if it has none. */
void jc_driver_text(const jc_driver *d, int code, const char **name, const char **text);

/* jc_driver_context returns the thread's current context; its pointer is NULL if there
 * is none. */
jc_failure jc_driver_context(const jc_driver *d, jc_context *out);

/* jc_driver_device returns the current context's device, or the first. */
jc_failure jc_driver_device(const jc_driver *d, int *device);

jc_failure jc_driver_capability(const jc_driver *d, int device, int *major, int *minor);

/* jc_driver_load loads into the current context. It writes the driver's error log to
 * log, NUL-terminated. */
jc_failure jc_driver_load(const jc_driver *d, const void *image, void **module, char *log, unsigned size);

/* Both work in a context that need not be current, and fail with
 * JC_CUDA_CONTEXT_IS_DESTROYED if it no longer exists. */
jc_failure jc_driver_function(const jc_driver *d, jc_context in, void *module, const char *name, void **out);
jc_failure jc_driver_unload(const jc_driver *d, jc_context in, void *module);

#endif
