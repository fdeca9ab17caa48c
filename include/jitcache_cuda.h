/* jitcache_cuda.h: CUDA source to machine code, through a cache.
 *
 *	jitcache_cuda_request *r;
 *	jitcache_cuda_request_new(source, strlen(source), "saxpy.cu", &r);
 *	jitcache_cuda_request_option(r, "-std=c++17");
 *	jitcache_cuda_request_option(r, "-I/opt/include");
 *	jitcache_cuda_module *m;
 *	void *saxpy;                                                 // a CUfunction
 *	if (jitcache_cuda_load(cache, r, -1, &m) == JITCACHE_OK &&
 *	    jitcache_cuda_function(m, "saxpy", &saxpy) == JITCACHE_OK)
 *		cuLaunchKernel(saxpy, ...);
 *
 * A request is what one would give NVRTC. What is not in the cache NVRTC compiles
 * once, in a process of its own, and what it looked at there is recorded: every file,
 * every name that it looked for in vain, every variable that it asked for. As long as
 * all of that is the same the result is found again. docs/cuda.md says more.
 *
 * Neither NVRTC nor the driver is linked to: they are looked for when they are
 * needed. A hit needs neither; jitcache_cuda_load needs the driver, and so does
 * a request without an architecture, which is that of the device.
 *
 * A function returns a status as in jitcache.h; each lists what it returns.
 * Beyond those:
 *
 *	ERR_COMPILE  the source does not compile: jitcache_cuda_last_log
 *	ERR_LIBRARY  NVRTC or the driver is not found, or not whole; the error lists
 *	             the places that were looked at
 *	ERR_DRIVER   a call of the driver failed; the error has its name and text
 *
 * All functions may be called from any thread. The driver is called on the
 * calling thread, in its current context.
 */
#ifndef JITCACHE_CUDA_H
#define JITCACHE_CUDA_H

#include "jitcache.h"

#ifdef __cplusplus
extern "C" {
#endif

#define JITCACHE_ERR_REFUSED (-21) /* is not returned any more: see JITCACHE_NOT_STORED */
#define JITCACHE_ERR_LIBRARY (-22) /* NVRTC or the driver is missing */
#define JITCACHE_ERR_DRIVER (-23)  /* a call of the driver failed */

/* ------------------------------------------------------------------ requests
 *
 * A request is built by one thread. Its first use freezes it; from then on any
 * thread may use it, for any number of compilations, and the more often the
 * cheaper: the source is hashed once. Files and devices are looked at each
 * time. */

/* What to compile. Released with jitcache_cuda_request_free. */
typedef struct jitcache_cuda_request jitcache_cuda_request;

/* jitcache_cuda_request_new makes a request for a source of size bytes. name is
 * what the compiler calls the source, NULL for "kernel.cu"; if it has a folder,
 * that is where quoted includes are looked for. The target is "cubin".
 *
 * The environment is read now: JITCACHE_NVRTC and JITCACHE_LIBCUDA (paths of the
 * libraries), CUDA_HOME, CUDA_PATH.
 * OK; ERR_ARGUMENT: a pointer is NULL, or the source has a NUL; ERR_MEMORY. */
JITCACHE_API int32_t jitcache_cuda_request_new(
	const char *source, size_t size, const char *name, jitcache_cuda_request **request);

/* jitcache_cuda_request_target says what to make: "cubin", "ptx" or "ltoir".
 * For "ltoir" the option -dlto is implied.
 * OK; ERR_ARGUMENT: NULL, or another word; ERR_HANDLE; ERR_FROZEN; ERR_MEMORY. */
JITCACHE_API int32_t jitcache_cuda_request_target(jitcache_cuda_request *request, const char *target);

/* jitcache_cuda_request_option adds an option of NVRTC's, as one would pass it:
 * "-std=c++17", or "-I" and then "/opt/include". Without an architecture it is
 * that of the current context's device, else of device 0.
 * OK; ERR_ARGUMENT: a pointer is NULL; ERR_HANDLE; ERR_FROZEN; ERR_MEMORY. */
JITCACHE_API int32_t jitcache_cuda_request_option(jitcache_cuda_request *request, const char *option);

/* jitcache_cuda_request_header adds a header in memory, which #include finds
 * under name. Statuses as jitcache_cuda_request_option; ERR_ARGUMENT also if the
 * text has a NUL. */
JITCACHE_API int32_t jitcache_cuda_request_header(
	jitcache_cuda_request *request, const char *name, const char *text, size_t size);

/* jitcache_cuda_request_expression adds a name expression, "axpy<float>": the
 * template is instantiated, and jitcache_cuda_function finds it by this name.
 * Statuses as jitcache_cuda_request_option. */
JITCACHE_API int32_t jitcache_cuda_request_expression(jitcache_cuda_request *request, const char *expression);

/* jitcache_cuda_request_library names a library to use: what is "nvrtc" or
 * "libcuda", path a file. It beats the environment. What "packages" adds is a
 * folder of Python packages, in which NVIDIA's wheels are looked for; that in
 * which jitcache itself lies is known.
 * Statuses as jitcache_cuda_request_option; ERR_ARGUMENT also for another
 * word. */
JITCACHE_API int32_t jitcache_cuda_request_library(jitcache_cuda_request *request, const char *what, const char *path);

/* jitcache_cuda_request_packed adds many parts at once. Each is a letter, the
 * length as 8 bytes, little-endian, and the bytes: 'o' an option, 'h' the name of
 * a header and, following it, 't' its text, 'e' a name expression, 'T' the
 * target, 'n' the path of NVRTC, 'd' that of the driver, 'p' a folder of
 * packages, 'k' the kind of the entries, in place of the target's name: a request
 * with one shares no entry with others. It is for bindings of other languages.
 * OK; ERR_ARGUMENT: a pointer is NULL, or malformed; ERR_HANDLE; ERR_FROZEN;
 * ERR_MEMORY. */
JITCACHE_API int32_t jitcache_cuda_request_packed(jitcache_cuda_request *request, const void *packed, size_t size);

/* jitcache_cuda_request_free releases a request. Modules do not need it. */
JITCACHE_API void jitcache_cuda_request_free(jitcache_cuda_request *request);

/* --------------------------------------------------------------- compilation */

/* jitcache_cuda_compile returns the code: from the cache, with neither NVRTC nor,
 * if the request names an architecture, the driver; or compiled, by one of
 * however many ask (timeout_ms as in jitcache_acquire). A blob of PTX may be used
 * as a string. Without a cache (NULL) it compiles.
 *
 * Code that does not compile is not stored. Warnings are, and are given back
 * with a hit (jitcache_cuda_log).
 * OK: *blob is the code; NOT_STORED: likewise, and jitcache_last_error says why it is
 * not kept, because it shows the time for example (see jitcache_last_miss);
 * ERR_COMPILE; ERR_LIBRARY; ERR_DRIVER: no architecture was given and the driver does
 * not say; ERR_ARGUMENT; ERR_HANDLE; ERR_MEMORY; ERR_FORK; ERR_INTERNAL. */
JITCACHE_API int32_t jitcache_cuda_compile(
	jitcache_cache *cache, jitcache_cuda_request *request, int64_t timeout_ms, jitcache_blob **blob);

/* jitcache_cuda_lookup looks the code up and never compiles. With MISS, *key stands
 * for the request: it is to be acquired (jitcache_acquire, which finds the code if
 * somebody compiles it meanwhile, on the same cache handle); then jitcache_cuda_run
 * compiles. Where nothing is cached (JITCACHE=0) it is NULL: run without a lease. data
 * and size may be NULL; else they get what jitcache_blob_data and
 * jitcache_blob_size would return.
 * OK: *blob is the code; MISS: *key, which the caller releases; errors as
 * jitcache_cuda_compile. */
JITCACHE_API int32_t jitcache_cuda_lookup(jitcache_cache *cache, jitcache_cuda_request *request, jitcache_blob **blob,
	const void **data, size_t *size, jitcache_key **key);

/* jitcache_cuda_run compiles under a lease that jitcache_acquire gave, and ends
 * it, whatever comes of it. The lease may be NULL: then nothing is stored. It is
 * not for the callback of jitcache_get_or_compile, whose lease is not its own.
 * Statuses as jitcache_cuda_compile. */
JITCACHE_API int32_t jitcache_cuda_run(jitcache_cuda_request *request, jitcache_lease *lease, jitcache_blob **blob);

/* jitcache_cuda_key returns the key that the code is stored under, for
 * jitcache_explain or jitcache_remove. What was recorded tells it, and the cache, which
 * may be NULL, remembers that. Where nothing is known for the world as it is, the key
 * stands for the request, and nothing is ever stored under it; jitcache_explain then
 * says what has changed.
 * OK; ERR_LIBRARY; ERR_DRIVER; ERR_ARGUMENT; ERR_HANDLE; ERR_MEMORY; ERR_FORK;
 * ERR_INTERNAL. */
JITCACHE_API int32_t jitcache_cuda_key(jitcache_cache *cache, jitcache_cuda_request *request, jitcache_key **key);

/* jitcache_cuda_log copies what the compiler said about the code in a blob, and
 * a NUL. *size gets the length without it: 0 if it said nothing. This and more
 * is in jitcache_blob_attributes, as JSON: "target", "arch", "nvrtc" (the
 * version), "log", "lowered".
 * OK; TOO_SMALL: capacity is not more than *size, and nothing was copied;
 * ERR_ARGUMENT: blob or size is NULL; ERR_HANDLE; ERR_FORK; ERR_INTERNAL. */
JITCACHE_API int32_t jitcache_cuda_log(jitcache_blob *blob, char *buffer, size_t capacity, size_t *size);

/* jitcache_cuda_lowered copies the name in the code of a name expression that
 * the request had ("_Z4axpyIfEvT_PS0_S1_"), and a NUL. *size gets its length.
 * OK; MISS: the request had no such expression; others as jitcache_cuda_log. */
JITCACHE_API int32_t jitcache_cuda_lowered(
	jitcache_blob *blob, const char *expression, char *buffer, size_t capacity, size_t *size);

/* jitcache_cuda_last_log returns all that the compiler said at this thread's
 * last ERR_COMPILE, "" if there was none. It is valid until this thread's next
 * call of a function of this header. */
JITCACHE_API const char *jitcache_cuda_last_log(void);

/* ------------------------------------------------------------------- loading */

/* Code that the driver has loaded. Released with jitcache_cuda_module_free. */
typedef struct jitcache_cuda_module jitcache_cuda_module;

/* jitcache_cuda_load compiles as jitcache_cuda_compile does, and loads the code
 * into the calling thread's current context. The same code is loaded once in a
 * context, however often it is asked for.
 *
 * Code that the driver refuses, because it is damaged or made for another device,
 * leaves the cache and is compiled again, once.
 * OK; NOT_STORED: loaded, see jitcache_last_miss; ERR_DRIVER; others as
 * jitcache_cuda_compile. */
JITCACHE_API int32_t jitcache_cuda_load(
	jitcache_cache *cache, jitcache_cuda_request *request, int64_t timeout_ms, jitcache_cuda_module **module);

/* jitcache_cuda_load_blob loads code that was compiled already.
 * OK; ERR_DRIVER; ERR_LIBRARY; ERR_ARGUMENT; ERR_HANDLE; ERR_MEMORY; ERR_FORK;
 * ERR_INTERNAL. */
JITCACHE_API int32_t jitcache_cuda_load_blob(
	jitcache_cuda_request *request, jitcache_blob *blob, jitcache_cuda_module **module);

/* jitcache_cuda_function finds a function by its name in the code, or by a name
 * expression of the request. *function is a CUfunction, good as long as the
 * module.
 * OK; ERR_DRIVER: there is none, for example; ERR_ARGUMENT: a pointer is NULL;
 * ERR_HANDLE; ERR_FORK; ERR_INTERNAL. */
JITCACHE_API int32_t jitcache_cuda_function(jitcache_cuda_module *module, const char *name, void **function);

/* jitcache_cuda_get_function is jitcache_cuda_load and jitcache_cuda_function:
 * from source to function in a call. *module is to be released.
 * Statuses of the two. */
JITCACHE_API int32_t jitcache_cuda_get_function(jitcache_cache *cache, jitcache_cuda_request *request,
	int64_t timeout_ms, const char *name, jitcache_cuda_module **module, void **function);

/* jitcache_cuda_module_handle returns the CUmodule, NULL for a bad handle. */
JITCACHE_API void *jitcache_cuda_module_handle(jitcache_cuda_module *module);

/* jitcache_cuda_module_free gives a module up. With the last reference in a
 * context it is unloaded, so kernels of it must not be running. A context that is
 * gone already is fine, and so is NULL. */
JITCACHE_API void jitcache_cuda_module_free(jitcache_cuda_module *module);

#ifdef __cplusplus
}
#endif

#endif
