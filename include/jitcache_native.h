/* jitcache_native.h: what a C or C++ compile depends on, as a key.
 *
 *	jitcache_native_request *r;
 *	jitcache_key *key;
 *	jitcache_native_request_new(&r);
 *	jitcache_native_request_add(r, JITCACHE_NATIVE_COMPILER, "cc", 2);
 *	jitcache_native_request_add(r, JITCACHE_NATIVE_FLAG, "-O2", 3);
 *	jitcache_native_request_add(r, JITCACHE_NATIVE_SOURCE, "solver.c", 8);
 *	jitcache_native_request_add(r, JITCACHE_NATIVE_TEXT, text, strlen(text));
 *	if (jitcache_native_key(cache, r, &key) == JITCACHE_OK)
 *		jitcache_get_or_compile(cache, key, -1, run_the_compiler, &job, &blob);
 *
 * The key covers the compiler by what it is, the processor where -march=native
 * asks for it, the flags, the environment that compilers obey, the libraries
 * that are linked, every header that is read and every place where one was
 * looked for in vain. docs/native.md tells what is keyed, and what is refused.
 *
 * The caller compiles, as it likes, with just these flags; the library looks
 * at the files again when the result is stored.
 *
 * Only the compiler knows which files it reads. Where the cache does not know
 * it from an earlier time, the functions below run the compiler to ask it (-v
 * -E, -M), on the calling thread, in a private folder under TMPDIR that is
 * removed. For a hit nothing is run.
 *
 * Statuses are those of jitcache.h and jitcache_cuda.h:
 *
 *	ERR_COMPILE  the compiler cannot be run, or does not find a header:
 *	             jitcache_native_last_log
 *	ERR_REFUSED  a result cannot be keyed, and jitcache_last_error names what is
 *	             in the way: compile without a cache
 */
#ifndef JITCACHE_NATIVE_H
#define JITCACHE_NATIVE_H

#include "jitcache_cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How to call the compiler. Built by one thread; its first use freezes it, then
 * any thread may use it, any number of times: the more often the cheaper.
 * Released with jitcache_native_request_free. */
typedef struct jitcache_native_request jitcache_native_request;

/* The parts of a request. Paths are absolute. */
#define JITCACHE_NATIVE_COMPILER 'c' /* the program, a path or a name; again: flags that belong to it */
#define JITCACHE_NATIVE_FLAG 'o'     /* of the command, in order; neither -c and -o nor sources */
#define JITCACHE_NATIVE_KIND 'k'     /* "shared" (default) and "extension": linked; "object" */
#define JITCACHE_NATIVE_NAME 'N'     /* what the user calls the result; not in the key */
#define JITCACHE_NATIVE_FILE 'f'     /* a source on disk; the suffix says whether it is C or C++ */
#define JITCACHE_NATIVE_SOURCE 's'   /* a source or header in memory: its name, without a folder, */
#define JITCACHE_NATIVE_TEXT 't'     /* and, following it, its text */
#define JITCACHE_NATIVE_LABEL 'x'    /* another component of the key: its label, */
#define JITCACHE_NATIVE_VALUE 'y'    /* and, following it, its value */

/* jitcache_native_request_new makes a request without parts. The environment is
 * read now: PATH, CPATH, LIBRARY_PATH, SOURCE_DATE_EPOCH and what else compilers
 * obey.
 * OK; ERR_ARGUMENT: request is NULL; ERR_MEMORY. */
JITCACHE_API int32_t jitcache_native_request_new(jitcache_native_request **request);

/* jitcache_native_request_add adds a part.
 * OK; ERR_ARGUMENT: a pointer is NULL, another letter, or a NUL where there is
 * to be text; ERR_HANDLE; ERR_FROZEN; ERR_MEMORY. */
JITCACHE_API int32_t jitcache_native_request_add(
	jitcache_native_request *request, int32_t part, const void *data, size_t size);

/* jitcache_native_request_free releases a request. NULL is fine. */
JITCACHE_API void jitcache_native_request_free(jitcache_native_request *request);

/* jitcache_native_key returns the key that the request has now: it looks at
 * every file. cache, which may be NULL, remembers which they are.
 * OK; ERR_COMPILE; ERR_REFUSED; ERR_ARGUMENT; ERR_HANDLE; ERR_MEMORY; ERR_FORK;
 * ERR_INTERNAL. */
JITCACHE_API int32_t jitcache_native_key(jitcache_cache *cache, jitcache_native_request *request, jitcache_key **key);

/* jitcache_native_lookup is jitcache_native_key and jitcache_get in one call.
 * data and size may be NULL; else they get what jitcache_blob_data and
 * jitcache_blob_size would return.
 * OK: *blob is the result; MISS: *key is the key to acquire, which the caller
 * releases, NULL where nothing is cached (JITCACHE=0); errors as
 * jitcache_native_key. */
JITCACHE_API int32_t jitcache_native_lookup(jitcache_cache *cache, jitcache_native_request *request,
	jitcache_blob **blob, const void **data, size_t *size, jitcache_key **key);

/* jitcache_native_last_log returns what the compiler said at this thread's last
 * ERR_COMPILE, "" if there was none. Valid until this thread's next call of a
 * function of this header. */
JITCACHE_API const char *jitcache_native_last_log(void);

#ifdef __cplusplus
}
#endif

#endif
