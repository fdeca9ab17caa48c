/* front.h: what the files of the front share. */
#ifndef JC_FRONT_H
#define JC_FRONT_H

#include <pthread.h>
#include <stdatomic.h>

#include "core.h"

/* ---- slots.c: handles
 *
 * A handle is a word: kind, place in a table, generation. It is never
 * dereferenced, so a stale or foreign one is found out and not followed; a
 * place is used again only under the next generation. */

typedef uint64_t jc_handle;

enum jc_kind { JC_OPTIONS = 1, JC_CACHE, JC_KEY, JC_BLOB, JC_LEASE, JC_REQUEST, JC_MODULE, JC_NATIVE };

/* What a slot holds beside the object, for handles on blobs: a hit makes one,
 * and must not pay for an allocation. */
typedef struct jc_extra {
	jc_handle cache;      /* where it was found; 0: nowhere */
	struct jc_path *path; /* NULL until asked for */
} jc_extra;

/* jc_slot_new returns a handle on object with one reference, 0 if there is no
 * memory. */
jc_handle jc_slot_new(enum jc_kind kind, void *object, jc_extra extra);

/* jc_slot_enter returns the object and adds a reference, or NULL if the handle
 * is stale, closed or of another kind. jc_slot_leave drops it. */
void *jc_slot_enter(jc_handle h, enum jc_kind kind);
void jc_slot_leave(jc_handle h);

/* jc_slot_peek returns the object without a reference. */
void *jc_slot_peek(jc_handle h, enum jc_kind kind);

/* jc_slot_extra returns what else the slot of a handle holds that was entered. */
jc_extra *jc_slot_extra(jc_handle h);

/* jc_slot_close drops the first reference and lets nobody enter any more. It
 * returns 0 if the handle was no good. The object goes with the last
 * reference. */
int jc_slot_close(jc_handle h, enum jc_kind kind);

/* jc_slot_live counts the handles in use, for leak tests. */
uint64_t jc_slot_live(void);

/* Objects end here, each in its own file. */
void jc_options_destroy(void *object);
void jc_cache_destroy(void *object);
void jc_key_destroy(void *object);
void jc_blob_destroy(void *object, jc_extra *extra);
void jc_lease_destroy(void *object);
void jc_request_destroy(void *object);
void jc_module_destroy(void *object);

/* ---- thread.c: what belongs to a thread */

typedef struct jc_frame {
	jc_handle lease;
	char *at; /* address in the frame of jitcache_get_or_compile */
} jc_frame;

typedef struct jc_thread {
	_Atomic int refs;    /* the thread, and the leases granted to it */
	_Atomic int holding; /* leases */
	uint32_t met;        /* the core's generation that this thread has called */
	char *stack;         /* for signals; NULL if the thread had one */
	int32_t reason;
	char *compile_log; /* of the last ERR_COMPILE; malloc'd */
	int busy;          /* the last acquire was BUSY, on busy_id */
	uint8_t busy_id[32];
	jc_frame *frames;
	int nframes, capframes;
	char error[4096]; /* a library that is not found lists where it was looked for */
} jc_thread;

/* jc_thread_self returns the calling thread's state, NULL if there is no memory
 * for it. */
jc_thread *jc_thread_self(void);
void jc_thread_release(jc_thread *t);

/* jc_thread_unwind gives up the leases of calls that longjmp has left: calls
 * that were made from the frame that now calls the library, or from below it.
 * Public functions that look things up start with it. */
void jc_unwind_to(char *frame);
#define jc_thread_unwind() jc_unwind_to(__builtin_frame_address(0))

/* jc_fail notes an error for jitcache_last_error and returns status. */
int32_t jc_fail(int32_t status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* jc_miss notes a reason for jitcache_last_miss and returns status. */
int32_t jc_miss(int32_t status, int32_t reason);

/* jc_finish ends a call of the core: it notes what out has and returns status. */
int32_t jc_finish(int32_t status, jc_out *out);

/* jc_compile_log takes over what a compiler said, NULL for nothing. */
void jc_compile_log(char *log);

/* jc_bad_handle returns the error for a handle of the named type. */
int32_t jc_bad_handle(const void *handle, const char *type);

/* ---- start.c, fork.c, enter.c: the runtime of this process */

/* jc_core_enter returns the core of this process, starting one in a forked
 * child. NULL: it cannot be; jc_no_core() is then what to return. */
const jc_core *jc_core_enter(void);
int32_t jc_no_core(void);

/* jc_core_now returns the core if it runs already, without starting one. */
const jc_core *jc_core_now(void);

/* jc_core_meet is what a thread does before its first call of a core (enter.c).
 * The two above have done it. */
void jc_core_meet(const jc_core *core);

/* jc_stack_free takes away at a thread's end what jc_core_meet has given it. */
void jc_stack_free(jc_thread *t);

/* jc_core_generation changes when the process has another core than before:
 * in a forked child. What an older one has made must not be used. */
uint32_t jc_core_generation(void);

/* jc_at_exit_flush has the counters written when the process exits. */
void jc_at_exit_flush(void);

/* jc_self_open opens the file of this library, for a copy. Called once, when
 * it is loaded. */
void jc_self_open(void);

/* jc_self_path returns the path that this library was loaded from, "" if that
 * is not known. */
const char *jc_self_path(void);

/* jc_self_copy loads a second copy of the library and returns its table, or
 * NULL and why not. */
const jc_core *jc_self_copy(char *why, size_t size);

/* ---- locks
 *
 * All locks of the front, in the order in which they are taken. fork takes them
 * all, so that no child finds one held by a thread that it does not have. */
extern pthread_mutex_t jc_path_lock;   /* making paths to blobs */
extern pthread_mutex_t jc_reopen_lock; /* opening caches again in a forked child */
extern pthread_mutex_t jc_cores_lock;  /* the list of caches, starting a core */
extern pthread_mutex_t jc_seal_lock;   /* freezing keys */
extern pthread_mutex_t jc_log_lock;    /* the log's queue and callback */
extern pthread_mutex_t jc_chunks_lock; /* growing the table of handles */

/* ---- cache.c */

typedef struct jc_cache {
	struct jc_cache *next; /* list of all, under jc_cores_lock */
	char *settings;        /* to open it again in a forked child */
	size_t nsettings;
	jc_memory *memory;
	int lookups; /* memory answers lookups */
	_Atomic uint32_t generation;
	void *_Atomic core; /* of that generation */
} jc_cache;

extern jc_cache *jc_caches;

/* jc_cache_core returns the core's half of a cache, opening it again in a
 * forked child. If it is NULL, *status is what to return. */
void *jc_cache_core(jc_cache *c, const jc_core *core, int32_t *status);

/* jc_cache_tend does what a hit in memory has asked for. */
void jc_cache_tend(jc_cache *c, const uint8_t *id, int due);

/* jc_caches_flush writes the counters of every cache; at exit. */
void jc_caches_flush(void);

/* ---- bytes.c */

/* jc_bytes_reserve makes room for n more bytes, and returns 0 if there is no
 * memory. jc_bytes_append adds n bytes that there is room for. */
int jc_bytes_reserve(jc_bytes *b, size_t n);
void jc_bytes_append(jc_bytes *b, const void *p, size_t n);

/* jc_little reads a little-endian number of n bytes, jc_put_little writes one. */
uint64_t jc_little(const uint8_t *p, int n);
void jc_put_little(uint8_t *p, uint64_t v, int n);

/* ---- key.c */

typedef struct jc_key {
	jc_bytes packed; /* components */
	jc_bytes inputs; /* files that were read */
	char *name;
	char kind[17];
	uint8_t *_Atomic sealed; /* NULL until frozen */
	size_t nsealed;
} jc_key;

/* jc_key_open enters a key that may still be built, or returns NULL and sets
 * status. */
jc_key *jc_key_open(jitcache_key *key, int32_t *status);

/* jc_key_sealed freezes a key and returns its sealed form, which lives as long
 * as the key. If it is NULL, *status is what to return. */
const uint8_t *jc_key_sealed(jc_key *k, size_t *size, int32_t *status);

/* jc_key_sealed_now returns the sealed form of a key that is frozen already,
 * else NULL. */
const uint8_t *jc_key_sealed_now(jc_key *k);

/* jc_key_of makes a key of a sealed form, which it copies. */
int32_t jc_key_of(const void *sealed, size_t size, jitcache_key **key);

/* Where id and kind stand in a sealed key: key.SealedID and SealedKind in Go. */
#define JC_SEALED_ID 8
#define JC_SEALED_KIND 40

/* ---- options.c */

/* jc_settings packs options (may be 0) and environment for the core's open. */
int32_t jc_settings(jc_handle options, char **settings, size_t *size);

/* ---- blob.c */

/* jc_blob_handle makes a public handle that owns b, for *blob. If there is no
 * memory it releases b. cache may be 0. */
int32_t jc_blob_handle(jc_blob *b, jc_handle cache, jitcache_blob **blob);

/* ---- lease.c */

/* jc_lease_id writes the id of the key that a lease is for, and returns 0 for a
 * bad handle. */
int jc_lease_id(jitcache_lease *lease, uint8_t id[32]);

/* ---- request.c: what to compile, by NVRTC or by a C compiler */

typedef struct jc_request {
	jc_bytes source, packed; /* packed: the other parts */
	_Atomic int frozen;
	uint8_t digest[64]; /* of the two, once frozen */
} jc_request;

/* Before the bytes of a part: its letter, and their number. */
enum { JC_PART_HEAD = 1 + 8 };

/* jc_request_publish makes the handle of a request, 0 if it is not whole or there
 * is no memory: the request is gone then, and the error noted. */
jc_handle jc_request_publish(jc_request *r, enum jc_kind kind, int whole);
void jc_request_release(jc_handle request, enum jc_kind kind);

/* jc_request_open enters a request that may still be built, or returns NULL and
 * sets status. */
jc_request *jc_request_open(jc_handle request, enum jc_kind kind, int32_t *status);

/* jc_request_add adds a part. jc_request_begin makes room for one and writes its
 * head; size bytes are to be appended. 0: there is no memory. */
int jc_request_add(jc_request *r, char letter, const void *data, size_t size);
int jc_request_begin(jc_request *r, char letter, size_t size);

/* A call of the core about a request, and what was entered for it. */
typedef struct jc_call {
	const jc_core *core;
	jc_handle cache, request; /* cache: 0 without one */
	void *cache_core;
	jc_parts parts;
} jc_call;

/* jc_call_enter freezes the request and enters it and the cache, which may be
 * NULL. If it returns JITCACHE_OK jc_call_leave is to follow. */
int32_t jc_call_enter(jc_call *c, jitcache_cache *cache, jc_handle request, enum jc_kind kind);
void jc_call_leave(jc_call *c);

/* What a lookup of the core can give: a blob, or a sealed key, malloc'd. */
typedef struct jc_found {
	jc_blob *blob;
	uint8_t *sealed;
	size_t nsealed;
} jc_found;

/* jc_call_give hands out what was found, with the status that the core gave; data
 * and size may be NULL. */
int32_t jc_call_give(const jc_call *c, int32_t status, jc_found *found, jitcache_blob **blob, const void **data,
	size_t *size, jitcache_key **key);

/* ---- native_run.c */

/* jc_native_ask runs a command, words each ended by a NUL, in a private folder
 * with the sources that parts have in memory. The bytes of the answer are
 * malloc'd; its status is -1 if the command could not be run. */
int32_t jc_native_ask(const jc_parts *parts, const char *words, size_t size, jc_answer *answer);

/* ---- log.c */

void jc_log_push(int32_t level, char *text);

/* jc_log_drain gives queued lines to the host's callback. Called by public
 * functions right before they return. */
void jc_log_drain(void);

/* ---- controls
 *
 * A mechanism that a build for the tests leaves out, to show that they would
 * notice: a build tag of main.go sets one (tests/areas/guest.py, tests/host). */
enum jc_control {
	JC_EVERYTHING,
	JC_NO_SIGNALS, /* the host's signals are not looked after when Go starts */
	JC_NO_MEETING, /* nor when a thread enters it */
	JC_NO_STACK,   /* a thread keeps the stack for signals that Go gives it */
	JC_KEEP_STACK, /* one that it was given stays when it ends */
	JC_NO_COPY,    /* a forked child uses its parent's runtime */
	JC_NO_LOCKS,   /* fork takes no locks */
	JC_NO_SELF,    /* the library's own file is not kept open */
	JC_NO_PATH,    /* nor opened again where the host has closed it */
	JC_NO_VERSION, /* any file that is there is copied */
	JC_SLOW_COPY,  /* a copy takes more than ten times what it may */
	JC_NO_LIMITS,  /* the process's limits are not looked at before a copy */
	JC_TEARS_DOWN, /* at exit everything is freed */
	JC_LINGERS,    /* exit waits for what is in use */
	JC_NO_UNWIND,  /* a callback that does not return keeps its lease */
	JC_NO_FRAMES,  /* a call from inside a callback ends its lease */
	JC_LATE_STORE, /* a commit inside a callback is stored when that returns */
};
#ifndef JC_CONTROL
#define JC_CONTROL JC_EVERYTHING
#endif

/* A word as the opaque pointer that the host sees, and back. */
#define JC_TO(type, h) ((type *)(uintptr_t)(h))
#define JC_OF(p) ((jc_handle)(uintptr_t)(p))

#endif
