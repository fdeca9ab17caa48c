/* jitcache_native.h: results of C and C++ compilers, and of any other command,
 * from the cache.
 *
 *	jitcache_native_request *r;
 *	jitcache_blob *blob;
 *	jitcache_native_request_new(&r);
 *	jitcache_native_request_add(r, JITCACHE_NATIVE_COMPILER, "cc", 2);
 *	jitcache_native_request_add(r, JITCACHE_NATIVE_FLAG, "-O2", 3);
 *	jitcache_native_request_add(r, JITCACHE_NATIVE_SOURCE, "solver.c", 8);
 *	jitcache_native_request_add(r, JITCACHE_NATIVE_TEXT, text, strlen(text));
 *	int32_t status = jitcache_native_build(cache, r, -1, 0, &blob);
 *
 * What is not in the cache is compiled once, under observation: every file that
 * the compiler and all that it starts read, look at or look for in vain becomes
 * part of what the result depends on, and so do the variables that they obey and,
 * where they are asked for, the processor and the folder. The next request hits if
 * all of that is still the same; then no process is started. A result that cannot
 * be repeated (it has the time of day in it, or something else that cannot be
 * seen) is handed out and not kept. docs/native.md says more.
 *
 * The compiler runs in a private folder under TMPDIR, which is removed, with the
 * files in memory in it, /dev/null as its input, and the environment of this
 * process without what names a session, a job or a rank. It has no other
 * descriptors: "-I/dev/fd/5" finds nothing, "-I/proc/PID/fd/5" does, and is not
 * kept. It is not a child of this process: no SIGCHLD is raised, and wait does not
 * see it.
 *
 * Statuses are those of jitcache.h and jitcache_cuda.h. */
#ifndef JITCACHE_NATIVE_H
#define JITCACHE_NATIVE_H

#include "jitcache_cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What to compile, and how. Built by one thread; its first use freezes it, then
 * any thread may use it, any number of times: the more often the cheaper.
 * Released with jitcache_native_request_free. */
typedef struct jitcache_native_request jitcache_native_request;

/* The parts of a request: sources for a compiler. */
#define JITCACHE_NATIVE_COMPILER 'c' /* the program, a path or a name; again: words that come first */
#define JITCACHE_NATIVE_FLAG 'o'     /* before the sources, in order; neither -c, -shared and -o nor sources */
#define JITCACHE_NATIVE_LINK 'l'     /* behind the sources, in order: libraries */
#define JITCACHE_NATIVE_KIND 'k'     /* "shared" (default) and "extension": linked; "object" */
#define JITCACHE_NATIVE_FILE 'f'     /* a source on disk, absolute; the suffix says whether it is C or C++ */
#define JITCACHE_NATIVE_SOURCE 's'   /* a source or header in memory: its name, without a folder, */
#define JITCACHE_NATIVE_TEXT 't'     /* and, following it, its text; */
#define JITCACHE_NATIVE_DERIVED 'u'  /* or its text, which follows from the other parts, and does not count */

/* Or any command, which makes one file. SOURCE and TEXT are files that it finds. */
#define JITCACHE_NATIVE_ARGUMENT 'a' /* a word of it, in order, in place of COMPILER, FLAG, LINK and FILE */
#define JITCACHE_NATIVE_OUTPUT 'O'   /* the name of what it makes, without a folder */
#define JITCACHE_NATIVE_TIMELESS 'T' /* any value: its program takes no notice of modification times */

/* Both. */
#define JITCACHE_NATIVE_FOLDER 'd'   /* run here, absolute; default: in the private folder */
#define JITCACHE_NATIVE_VARIABLE 'e' /* a variable that it is given, or as "LC_*" all such; default: all */
#define JITCACHE_NATIVE_NAME 'N'     /* what the user calls the result; does not count */
#define JITCACHE_NATIVE_ENTRY 'K'    /* the kind of the entry, at most 16 bytes, "native" */
#define JITCACHE_NATIVE_LABEL 'x'    /* something else that the result depends on: its label, */
#define JITCACHE_NATIVE_VALUE 'y'    /* and, following it, its value */

/* In an ARGUMENT or FLAG, the private folder: "\001/solver.c". Where the command
 * runs in it plain names do better, for they do not show in the result. */
#define JITCACHE_NATIVE_PRIVATE "\001"

/* jitcache_native_request_new makes a request without parts.
 * OK; ERR_ARGUMENT: request is NULL; ERR_MEMORY. */
JITCACHE_API int32_t jitcache_native_request_new(jitcache_native_request **request);

/* jitcache_native_request_add adds a part.
 * OK; ERR_ARGUMENT: a pointer is NULL, another letter, or a NUL where there is
 * to be text; ERR_HANDLE; ERR_FROZEN; ERR_MEMORY. */
JITCACHE_API int32_t jitcache_native_request_add(
	jitcache_native_request *request, int32_t part, const void *data, size_t size);

/* jitcache_native_request_free releases a request. NULL is fine. */
JITCACHE_API void jitcache_native_request_free(jitcache_native_request *request);

/* jitcache_native_lookup returns the result if it is in the cache; nothing is run.
 * It takes as many stat calls as the compiler has looked at files and folders.
 * data and size may be NULL; else they get what jitcache_blob_data and
 * jitcache_blob_size would return.
 * OK: *blob is the result; MISS; ERR_ARGUMENT: a pointer is NULL, or the parts
 * make no sense; ERR_HANDLE; ERR_MEMORY; ERR_FORK; ERR_INTERNAL. */
JITCACHE_API int32_t jitcache_native_lookup(
	jitcache_cache *cache, jitcache_native_request *request, jitcache_blob **blob, const void **data, size_t *size);

/* jitcache_native_key returns the key under which the result is stored, for
 * jitcache_explain and jitcache_remove.
 * OK; MISS: no result is known for the world as it is now; errors as
 * jitcache_native_lookup. */
JITCACHE_API int32_t jitcache_native_key(jitcache_cache *cache, jitcache_native_request *request, jitcache_key **key);

/* jitcache_native_record_key returns the key under which is stored what is known of
 * a request: the worlds in which it was compiled, as docs/format.md has them, as an
 * entry like others. It can be taken to another machine: put there together with
 * the result, under its own key, it makes jitcache_native_lookup find the result
 * if the world is the same there.
 * Errors as jitcache_native_lookup. */
JITCACHE_API int32_t jitcache_native_record_key(
	jitcache_cache *cache, jitcache_native_request *request, jitcache_key **key);

/* jitcache_native_process_key returns a key of the request and of all that the
 * command could ask of this process, but for files: its variables without those
 * that name a session, a job or a rank, the processor, the folder, the limits. For
 * two processes of one machine that have the same key the result is the same.
 * Errors as jitcache_native_lookup. */
JITCACHE_API int32_t jitcache_native_process_key(
	jitcache_cache *cache, jitcache_native_request *request, jitcache_key **key);

/* jitcache_native_build returns the result: from the cache, or compiled. However
 * many threads and processes ask at once, one compiles. cache may be NULL: then
 * nothing is kept. timeout_ms is how long to wait for others, as in
 * jitcache_acquire; limit_ms how long the command may run, 0: as long as it takes.
 * The blob's attributes are {"log": what was printed, "compiler": the program}.
 * OK: it is in the cache; NOT_STORED: *blob is the result all the same, and
 * jitcache_last_error says why it is not kept; ERR_COMPILE: the command has failed,
 * or cannot be run, and nothing is kept (jitcache_native_last_log);
 * TIMEOUT: it has run for longer than limit_ms and was ended; and the errors of
 * jitcache_native_lookup. */
JITCACHE_API int32_t jitcache_native_build(jitcache_cache *cache, jitcache_native_request *request, int64_t timeout_ms,
	int64_t limit_ms, jitcache_blob **blob);

/* ---- the same in steps, for hosts that answer signals meanwhile */

/* A build that is under way. It belongs to the thread that started it, and is of no
 * use in a forked child. */
typedef struct jitcache_native_job jitcache_native_job;

/* jitcache_native_start begins a build. Everything that can take long is left to
 * jitcache_native_step.
 * OK: *job is to be freed; errors as jitcache_native_lookup. */
JITCACHE_API int32_t jitcache_native_start(jitcache_cache *cache, jitcache_native_request *request, int64_t timeout_ms,
	int64_t limit_ms, jitcache_native_job **job);

/* jitcache_native_step goes on, for at most 100 ms. *hit, which may be NULL, says
 * whether the result was in the cache.
 * BUSY: call it again; all else, and *blob, as jitcache_native_build: it is over. */
JITCACHE_API int32_t jitcache_native_step(jitcache_native_job *job, jitcache_blob **blob, int32_t *hit);

/* jitcache_native_job_free frees a job. One that is not over is given up: the
 * command is ended, with all that it has started. NULL is fine. */
JITCACHE_API void jitcache_native_job_free(jitcache_native_job *job);

/* jitcache_native_last_log returns what the command printed at this thread's last
 * ERR_COMPILE, "" if there was none. Valid until this thread's next call of a
 * function of this header. */
JITCACHE_API const char *jitcache_native_last_log(void);

#ifdef __cplusplus
}
#endif

#endif
