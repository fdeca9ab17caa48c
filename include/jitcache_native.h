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
 * If the result is not in the cache, the command runs once, under observation. The
 * result depends on every file that the compiler and the programs that it starts
 * read, look at or look for in vain. It also depends on the variables that they
 * obey and, if they ask for them, on the processor and the folder. The next request
 * hits if all of that is unchanged; then no process is started. A result that cannot
 * be repeated (it contains the time of day, or depends on something that cannot be
 * observed) is returned and not stored. docs/native.md says more.
 *
 * The compiler runs in a private folder under TMPDIR, which is removed afterwards.
 * The folder contains the files that the request has in memory. The compiler's input
 * is /dev/null. Its environment is that of this process, without variables that name
 * a session, a job or a rank, and without those by which numerical libraries run
 * (OMP_NUM_THREADS, PETSC_OPTIONS). It inherits no other descriptors: "-I/dev/fd/5" finds
 * nothing; "-I/proc/PID/fd/5" works, but the result is not stored. The compiler is
 * not a child of this process: no SIGCHLD is raised, and wait does not see it.
 *
 * Statuses are those of jitcache.h and jitcache_cuda.h. */
#ifndef JITCACHE_NATIVE_H
#define JITCACHE_NATIVE_H

#include "jitcache_cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What to compile, and how. A request is built by one thread. Its first use freezes
 * it; from then on any thread may use it, any number of times. Repeated use is
 * cheaper than new requests. Released with jitcache_native_request_free. */
typedef struct jitcache_native_request jitcache_native_request;

/* The parts of a request to compile C or C++. */
#define JITCACHE_NATIVE_COMPILER 'c' /* the program, a path or a name; further ones are its first arguments */
#define JITCACHE_NATIVE_FLAG 'o'     /* a flag before the sources, in order; not -c, -shared, -o or a source */
#define JITCACHE_NATIVE_LINK 'l'     /* a flag after the sources, in order: libraries */
#define JITCACHE_NATIVE_KIND 'k'     /* "shared" (default) or "extension", which are linked; or "object" */
#define JITCACHE_NATIVE_FILE 'f'     /* a source on disk, absolute; the suffix says whether it is C or C++ */
#define JITCACHE_NATIVE_SOURCE 's'   /* a source or header in memory: its name, without a folder */
#define JITCACHE_NATIVE_TEXT 't'     /* after a SOURCE: its text */
#define JITCACHE_NATIVE_DERIVED 'u'  /* instead of TEXT: a text that follows from the other parts; not in the key */

/* The parts of a request to run any command that makes one file. The command finds
 * each SOURCE with its TEXT as a file. */
#define JITCACHE_NATIVE_ARGUMENT 'a' /* a word of the command, in order, in place of COMPILER, FLAG, LINK and FILE */
#define JITCACHE_NATIVE_OUTPUT 'O'   /* the name of the file that it makes, without a folder */
#define JITCACHE_NATIVE_TIMELESS 'T' /* any value: the program ignores modification times */

/* The parts of either. */
#define JITCACHE_NATIVE_FOLDER 'd'   /* the folder to run in, absolute; default: the private folder */
#define JITCACHE_NATIVE_VARIABLE 'e' /* a variable to pass on, or a pattern such as "LC_*"; default: all */
#define JITCACHE_NATIVE_NAME 'N'     /* what the user calls the result; not in the key */
#define JITCACHE_NATIVE_ENTRY 'K'    /* the kind of the entry, at most 16 bytes; default: "native" */
#define JITCACHE_NATIVE_LABEL 'x'    /* something else that the result depends on: its label */
#define JITCACHE_NATIVE_VALUE 'y'    /* after a LABEL: its value */

/* Which variables the command gets: "strict" for only those that compilers and build
 * systems obey; "+PATTERN" for these too; "-PATTERN" for not these. */
#define JITCACHE_NATIVE_ENVIRONMENT 'E'

/* What the command gets in place of what this process has. These are not in the key,
 * but what the command asks for counts. */
#define JITCACHE_NATIVE_GIVEN 'v' /* NAME=VALUE, one for each variable; without any, those of this process */
#define JITCACHE_NATIVE_LIMIT 'L' /* a limit, decimal: its number (RLIMIT_*), the soft and the hard one */
#define JITCACHE_NATIVE_UMASK 'U' /* the umask, octal */

/* In an ARGUMENT or FLAG this stands for the private folder: "\001/solver.c". If the
 * command runs in that folder, prefer plain names, which do not show in the result. PWD
 * is /proc/self/cwd there, so that debug information does not name the folder either. */
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

/* jitcache_native_lookup returns the result if it is in the cache, and never runs
 * the command. It makes one stat call for each file and folder that the compiler has
 * looked at. data and size may be NULL; otherwise they get what jitcache_blob_data
 * and jitcache_blob_size would return.
 * OK: *blob is the result; MISS; ERR_ARGUMENT: a pointer is NULL, or the parts
 * make no sense; ERR_HANDLE; ERR_MEMORY; ERR_FORK; ERR_INTERNAL. */
JITCACHE_API int32_t jitcache_native_lookup(
	jitcache_cache *cache, jitcache_native_request *request, jitcache_blob **blob, const void **data, size_t *size);

/* jitcache_native_key returns the key under which the result is stored, for
 * jitcache_explain and jitcache_remove.
 * OK; MISS: no recorded run fits the files and variables as they are now; errors as
 * jitcache_native_lookup. */
JITCACHE_API int32_t jitcache_native_key(jitcache_cache *cache, jitcache_native_request *request, jitcache_key **key);

/* jitcache_native_record_key returns the key of the request's record: an ordinary
 * entry that lists what each earlier run has looked at (docs/format.md). The record
 * can be copied to another machine. If the record and the result are put there under
 * their keys, jitcache_native_lookup finds the result there, provided that the files
 * and variables are the same.
 * Errors as jitcache_native_lookup. */
JITCACHE_API int32_t jitcache_native_record_key(
	jitcache_cache *cache, jitcache_native_request *request, jitcache_key **key);

/* jitcache_native_process_key returns a key of the request and of everything that
 * the command could ask of this process, except files: the variables that it is given,
 * the processor, the folder, the limits. If two
 * processes on one machine have the same key, they get the same result.
 * Errors as jitcache_native_lookup. */
JITCACHE_API int32_t jitcache_native_process_key(
	jitcache_cache *cache, jitcache_native_request *request, jitcache_key **key);

/* jitcache_native_build returns the result, from the cache or compiled. If many
 * threads and processes ask at once, one compiles. With cache NULL nothing is stored.
 * timeout_ms is how long to wait for others, as in jitcache_acquire. limit_ms is how
 * long the command may run; 0 is no limit. The blob's attributes are {"log": what was
 * printed, "compiler": the program}.
 * OK: the result is in the cache; NOT_STORED: *blob is the result, and
 * jitcache_last_error says why it is not stored; ERR_COMPILE: the command failed,
 * cannot be run, or has made no file or an empty one, and nothing is stored
 * (jitcache_native_last_log); TIMEOUT: the
 * command ran for longer than limit_ms and was ended; errors as
 * jitcache_native_lookup. */
JITCACHE_API int32_t jitcache_native_build(jitcache_cache *cache, jitcache_native_request *request, int64_t timeout_ms,
	int64_t limit_ms, jitcache_blob **blob);

/* ---- the same in steps, for hosts that handle signals meanwhile */

/* A build that is under way. It belongs to the thread that started it. It cannot be
 * continued in a forked child. */
typedef struct jitcache_native_job jitcache_native_job;

/* jitcache_native_start begins a build. Everything that can take long is left to
 * jitcache_native_step.
 * OK: free *job with jitcache_native_job_free; errors as jitcache_native_lookup. */
JITCACHE_API int32_t jitcache_native_start(jitcache_cache *cache, jitcache_native_request *request, int64_t timeout_ms,
	int64_t limit_ms, jitcache_native_job **job);

/* jitcache_native_step continues a build, for at most 100 ms. *hit says whether the
 * result was in the cache; hit may be NULL.
 * BUSY: call it again. Any other status ends the build: statuses and *blob are those
 * of jitcache_native_build. */
JITCACHE_API int32_t jitcache_native_step(jitcache_native_job *job, jitcache_blob **blob, int32_t *hit);

/* jitcache_native_job_free frees a job. If the build is not over, it is given up: the
 * command and all processes that it has started are ended. NULL is fine. */
JITCACHE_API void jitcache_native_job_free(jitcache_native_job *job);

/* jitcache_native_last_log returns what the command printed at this thread's last
 * ERR_COMPILE, "" if there was none. Valid until this thread's next call of a
 * function of this header. */
JITCACHE_API const char *jitcache_native_last_log(void);

#ifdef __cplusplus
}
#endif

#endif
