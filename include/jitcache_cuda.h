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
 * A request is what one would pass to NVRTC. If its result is not in the cache,
 * NVRTC compiles it once, in a process of its own. Everything that NVRTC looks at
 * there is recorded: every file, every name that it looks for in vain, every variable
 * that it asks for. As long as all of that is unchanged, the result is found again.
 * docs/cuda.md says more.
 *
 * The library is not linked to NVRTC or the driver. It looks for them when they are
 * needed. A hit needs neither. jitcache_cuda_load needs the driver. So does a request
 * that names no architecture, because it is compiled for that of the device.
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

#define JITCACHE_ERR_REFUSED (-21) /* no longer returned: see JITCACHE_NOT_STORED */
#define JITCACHE_ERR_LIBRARY (-22) /* NVRTC or the driver is missing */
#define JITCACHE_ERR_DRIVER (-23)  /* a call of the driver failed */

/* ------------------------------------------------------------------ requests
 *
 * A request is built by one thread. Its first use freezes it; from then on any
 * thread may use it, for any number of compilations. Keep it for repeated use: the
 * source is hashed once. Files and devices are looked at each time. */

/* What to compile. Released with jitcache_cuda_request_free. */
typedef struct jitcache_cuda_request jitcache_cuda_request;

/* jitcache_cuda_request_new makes a request for a source of size bytes. name is
 * the source's name for the compiler, NULL for "kernel.cu". If it has a folder,
 * quoted includes are looked for there. The target is "cubin".
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
 * "-std=c++17", or "-I" and then "/opt/include". If no option names an
 * architecture, it is that of the current context's device, else of device 0.
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

/* jitcache_cuda_request_library says where a library is. what is "nvrtc" or
 * "libcuda", and path is its file; this overrides the environment. Or what is
 * "packages", and path is a folder of Python packages in which to look for
 * NVIDIA's wheels; the folder that jitcache itself is in need not be added.
 * Statuses as jitcache_cuda_request_option; ERR_ARGUMENT also for another
 * word. */
JITCACHE_API int32_t jitcache_cuda_request_library(jitcache_cuda_request *request, const char *what, const char *path);

/* jitcache_cuda_request_packed adds many parts at once, for bindings to other
 * languages. Each part is a letter, the length as 8 bytes, little-endian, and the
 * bytes: 'o' an option, 'h' the name of a header, which 't', its text, must follow,
 * 'e' a name expression, 'T' the target, 'n' the path of NVRTC, 'd' the path of the
 * driver, 'p' a folder of packages, 'k' the kind of the entry, which is the target's
 * name otherwise. Requests with different kinds share no entries.
 * OK; ERR_ARGUMENT: a pointer is NULL, or malformed; ERR_HANDLE; ERR_FROZEN;
 * ERR_MEMORY. */
JITCACHE_API int32_t jitcache_cuda_request_packed(jitcache_cuda_request *request, const void *packed, size_t size);

/* jitcache_cuda_request_free releases a request. Modules do not need it. */
JITCACHE_API void jitcache_cuda_request_free(jitcache_cuda_request *request);

/* --------------------------------------------------------------- compilation */

/* jitcache_cuda_compile returns the code, from the cache or compiled. A hit needs
 * no NVRTC, and no driver if the request names an architecture. If many threads and
 * processes ask at once, one compiles (timeout_ms as in jitcache_acquire). With
 * cache NULL it compiles and stores nothing. A blob of PTX may be used as a string.
 *
 * A failed compilation is not stored. The compiler's warnings are stored with the
 * code, and a hit returns them (jitcache_cuda_log).
 * OK: *blob is the code; NOT_STORED: *blob is the code, and jitcache_last_error and
 * jitcache_last_miss say why it is not stored, for example because it shows the time;
 * ERR_COMPILE; ERR_LIBRARY; ERR_DRIVER: the request names no architecture, and the
 * driver cannot tell it; ERR_ARGUMENT; ERR_HANDLE; ERR_MEMORY; ERR_FORK;
 * ERR_INTERNAL. */
JITCACHE_API int32_t jitcache_cuda_compile(
	jitcache_cache *cache, jitcache_cuda_request *request, int64_t timeout_ms, jitcache_blob **blob);

/* jitcache_cuda_lookup looks the code up and never compiles. With MISS, *key stands
 * for the request. Pass it to jitcache_acquire with the same cache handle: that finds
 * the code if another thread or process compiles it meanwhile. With the lease from
 * there, compile with jitcache_cuda_run. If nothing is cached (JITCACHE=0), *key is
 * NULL: call jitcache_cuda_run without a lease. data and size may be NULL; otherwise
 * they get what jitcache_blob_data and jitcache_blob_size would return.
 * OK: *blob is the code; MISS: *key, which the caller releases; errors as
 * jitcache_cuda_compile. */
JITCACHE_API int32_t jitcache_cuda_lookup(jitcache_cache *cache, jitcache_cuda_request *request, jitcache_blob **blob,
	const void **data, size_t *size, jitcache_key **key);

/* jitcache_cuda_run compiles under a lease from jitcache_acquire, and ends the
 * lease, also if it fails. If lease is NULL, nothing is stored. Do not call it with
 * the lease that the callback of jitcache_get_or_compile is given.
 * Statuses as jitcache_cuda_compile. */
JITCACHE_API int32_t jitcache_cuda_run(jitcache_cuda_request *request, jitcache_lease *lease, jitcache_blob **blob);

/* jitcache_cuda_key returns the key that the code is stored under, for
 * jitcache_explain or jitcache_remove. It follows from what earlier compilations of
 * the request have looked at, which the cache has recorded; cache may be NULL. If no
 * recorded compilation fits the files and variables as they are now, the key stands
 * for the request. Nothing is ever stored under such a key; jitcache_explain says what
 * has changed.
 * OK; ERR_LIBRARY; ERR_DRIVER; ERR_ARGUMENT; ERR_HANDLE; ERR_MEMORY; ERR_FORK;
 * ERR_INTERNAL. */
JITCACHE_API int32_t jitcache_cuda_key(jitcache_cache *cache, jitcache_cuda_request *request, jitcache_key **key);

/* jitcache_cuda_log copies what the compiler printed when it made the code in a
 * blob, and a NUL. *size gets the length without the NUL: 0 if it printed nothing.
 * This and more is in jitcache_blob_attributes, as JSON: "target", "arch", "nvrtc"
 * (the version), "log", "lowered".
 * OK; TOO_SMALL: capacity is not more than *size, and nothing was copied;
 * ERR_ARGUMENT: blob or size is NULL; ERR_HANDLE; ERR_FORK; ERR_INTERNAL. */
JITCACHE_API int32_t jitcache_cuda_log(jitcache_blob *blob, char *buffer, size_t capacity, size_t *size);

/* jitcache_cuda_lowered copies the name that a name expression of the request has
 * in the code ("_Z4axpyIfEvT_PS0_S1_"), and a NUL. *size gets its length.
 * OK; MISS: the request had no such expression; others as jitcache_cuda_log. */
JITCACHE_API int32_t jitcache_cuda_lowered(
	jitcache_blob *blob, const char *expression, char *buffer, size_t capacity, size_t *size);

/* jitcache_cuda_last_log returns the compiler's output at this thread's last
 * ERR_COMPILE, "" if there was none. It is valid until this thread's next call of
 * a function of this header. */
JITCACHE_API const char *jitcache_cuda_last_log(void);

/* ------------------------------------------------------------------- loading */

/* Code that the driver has loaded. Released with jitcache_cuda_module_free. */
typedef struct jitcache_cuda_module jitcache_cuda_module;

/* jitcache_cuda_load compiles as jitcache_cuda_compile does, and loads the code
 * into the calling thread's current context. The same code is loaded once per
 * context, however often it is asked for.
 *
 * If the driver refuses the code, because it is damaged or made for another device,
 * the code is removed from the cache and compiled again, once.
 * OK; NOT_STORED: loaded, see jitcache_last_miss; ERR_DRIVER; others as
 * jitcache_cuda_compile. */
JITCACHE_API int32_t jitcache_cuda_load(
	jitcache_cache *cache, jitcache_cuda_request *request, int64_t timeout_ms, jitcache_cuda_module **module);

/* jitcache_cuda_load_blob loads code that was compiled before.
 * OK; ERR_DRIVER; ERR_LIBRARY; ERR_ARGUMENT; ERR_HANDLE; ERR_MEMORY; ERR_FORK;
 * ERR_INTERNAL. */
JITCACHE_API int32_t jitcache_cuda_load_blob(
	jitcache_cuda_request *request, jitcache_blob *blob, jitcache_cuda_module **module);

/* jitcache_cuda_function finds a function by its name in the code, or by a name
 * expression of the request. *function is a CUfunction, valid as long as the
 * module.
 * OK; ERR_DRIVER: there is none, for example; ERR_ARGUMENT: a pointer is NULL;
 * ERR_HANDLE; ERR_FORK; ERR_INTERNAL. */
JITCACHE_API int32_t jitcache_cuda_function(jitcache_cuda_module *module, const char *name, void **function);

/* jitcache_cuda_get_function is jitcache_cuda_load and jitcache_cuda_function in
 * one call, from source to function. The caller releases *module.
 * Statuses of the two. */
JITCACHE_API int32_t jitcache_cuda_get_function(jitcache_cache *cache, jitcache_cuda_request *request,
	int64_t timeout_ms, const char *name, jitcache_cuda_module **module, void **function);

/* jitcache_cuda_module_handle returns the CUmodule, NULL for a bad handle. */
JITCACHE_API void *jitcache_cuda_module_handle(jitcache_cuda_module *module);

/* jitcache_cuda_module_free releases a module. The last release in a context unloads
 * the code, so its kernels must not be running then. The context may have been
 * destroyed already. NULL is fine. */
JITCACHE_API void jitcache_cuda_module_free(jitcache_cuda_module *module);

#ifdef __cplusplus
}
#endif

#endif
