/* core.h: the interface between the two halves of the library.
 *
 * The front is C: the public functions, the handles, everything that must work
 * in a forked child before a Go runtime runs there. The core is Go, behind a
 * table of functions. In a forked child the front uses the table of a second
 * copy of the library (runtime.c). So nothing here may refer to a variable of the
 * copy that it is compiled into.
 */
#ifndef JC_CORE_H
#define JC_CORE_H

#include <stddef.h>
#include <stdint.h>

#include "../core/blob/blob.h"
#include "../core/memory/memory.h"
#include "../include/jitcache_native.h"

/* What a call of the core returns beside the status. */
typedef struct jc_out {
	int32_t reason; /* of a miss */
	char *error;    /* one line about an error; malloc'd, the caller frees it */
	/* With a miss: for how long the core's remotes are off. Until then a lookup of an entry
	 * that has no file misses with the reason quiet_why, and need not call the core. */
	int64_t quiet_ns;
	int32_t quiet_why;
} jc_out;

/* What the front knows of an opened cache. */
typedef struct jc_opened {
	void *core;        /* a pointer of pointer.go */
	jc_memory *memory; /* NULL: no tier in memory */
	int32_t lookups;   /* whether the tier answers lookups: not with JITCACHE=refresh */
	int32_t more;      /* whether the core looks beyond the directories: it has remotes */
	/* The prefixes of the paths of entries: the own directory's, then each layer's. Each
	 * ends in a NUL, and an empty one ends the list; malloc'd. NULL: the front opens no
	 * files, and passes every lookup to the core. */
	char *entries;
} jc_opened;

/* A path to a blob (jitcache_blob_path). The front ends it without the core: it closes
 * fd, or unlinks the path if fd is negative. */
typedef struct jc_pin {
	char *path; /* malloc'd */
	int32_t fd;
} jc_pin;

/* A request to compile: the source, the other parts as
 * jitcache_cuda_request_packed has them, and the BLAKE3 of each. */
typedef struct jc_parts {
	uint8_t *source;
	size_t nsource;
	uint8_t *packed;
	size_t npacked;
	uint8_t *digests; /* 64 bytes */
} jc_parts;

/* Bytes that grow (bytes.c). */
typedef struct jc_bytes {
	uint8_t *data;
	size_t size, room;
} jc_bytes;

/* What the front gives the core. */
typedef struct jc_front {
	void (*log)(int32_t level, char *text); /* text is malloc'd; the front frees it */
	const char *observer;                   /* path of jitcache-observe, "" if there is none */
	_Atomic int32_t stopped;                /* the core sets it after a panic: it answers no more calls */
} jc_front;

/* An entry's file, which the front opens and closes. fd is -ENOENT if no directory has
 * the file, and -1 if the front has not looked. in, nin bytes, is the prefix in
 * jc_opened.entries under which the file is; the core may have been opened again since,
 * with other directories. ticket was taken before the file was opened (memory.h). */
typedef struct jc_file {
	int32_t fd;
	uint32_t nin;
	const char *in;
	uint64_t ticket;
} jc_file;

/* Flags of acquire. */
#define JC_HOLDING 1 /* the thread holds a lease already */
#define JC_AGAIN 2   /* called again after BUSY */

/* What native_lookup shall return. */
#define JC_WANT_KEY 0
#define JC_WANT_BLOB 1
#define JC_WANT_RECORD_KEY 2
#define JC_WANT_PROCESS_KEY 3

/* The core. Strings and buffers are the caller's for the duration of the call
 * unless a comment says otherwise; "sealed" is a sealed key and its length. */
typedef struct jc_core {
	uint64_t size; /* of this struct: copies of the library must agree */
	int32_t (*start)(jc_front *front);
	int32_t (*thread_enter)(void);
	/* settings: names and values of options, then names and values of the environment.
	 * Each ends in a NUL. An empty name separates the lists. memory: the tier to keep
	 * using, or NULL for a new one. */
	int32_t (*open)(char *settings, size_t size, jc_memory *memory, jc_opened *opened, jc_out *out);
	int32_t (*close)(void *core);
	int32_t (*flush)(void *core);
	int32_t (*leave)(void *core);
	/* leave_process follows leave for all caches when the process ends. */
	int32_t (*leave_process)(void);
	int32_t (*get)(void *core, uint8_t *sealed, size_t nsealed, jc_file *file, jc_blob **blob, jc_out *out);
	int32_t (*get_into)(void *core, uint8_t *sealed, size_t nsealed, jc_file *file, uint8_t *buffer,
		size_t capacity, size_t *size, jc_out *out);
	/* took is how many nanoseconds a compile took whose result this is, -1 if it is none. */
	int32_t (*put)(void *core, uint8_t *sealed, size_t nsealed, uint8_t *data, size_t size, char *attributes,
		uint32_t flags, int64_t took, jc_out *out);
	int32_t (*acquire)(void *core, uint8_t *sealed, size_t nsealed, int64_t timeout_ms, int32_t flags,
		jc_blob **blob, void **lease, jc_out *out);
	int32_t (*commit)(
		void *lease, uint8_t *data, size_t size, char *attributes, int32_t want, jc_blob **blob, jc_out *out);
	int32_t (*release)(void *lease);
	int32_t (*remove)(void *core, uint8_t *sealed, size_t nsealed, jc_out *out);
	int32_t (*maintain)(void *core, uint8_t *id, int32_t due);
	int32_t (*used)(void *core, uint8_t *sealed, uint64_t n);
	/* missed counts misses that the front has found without the core. */
	int32_t (*missed)(void *core, char *kind, int32_t why, uint64_t n);
	int32_t (*trim)(void *core, jc_out *out);
	int32_t (*clear)(void *core, char *kind, jc_out *out);
	int32_t (*verify)(void *core, jc_blob **report, jc_out *out);
	int32_t (*count)(void *core, uint64_t *entries, jc_out *out);
	/* keys returns the keys of one part of the directory, 32 bytes each; MISS: there is
	 * no such part. describe returns what is known of an entry, as JSON; MISS: it cannot
	 * be read, or is of another kind. */
	int32_t (*keys)(void *core, int32_t part, jc_blob **keys, jc_out *out);
	int32_t (*describe)(void *core, uint8_t *id, char *kind, jc_blob **json, jc_out *out);
	int32_t (*stats)(void *core, jc_blob **json, jc_out *out);
	int32_t (*explain)(void *core, uint8_t *sealed, size_t nsealed, jc_blob **json, jc_out *out);
	/* pin makes a path to a blob. If core is NULL, the path is that of a copy. */
	int32_t (*pin)(void *core, jc_blob *blob, char *tempdir, jc_pin *pin, jc_out *out);
	/* key_input reads a file for a key. value and input get malloc'd bytes. */
	int32_t (*key_input)(
		int32_t tag, char *path, uint8_t **value, size_t *nvalue, uint8_t **input, size_t *ninput, jc_out *out);
	/* key_digest writes 32 bytes to digest. */
	int32_t (*key_digest)(uint8_t *data, size_t size, uint8_t *digest);
	int32_t (*key_seal)(uint8_t *packed, size_t npacked, uint8_t *inputs, size_t ninputs, char *name, char *kind,
		uint8_t **sealed, size_t *nsealed, jc_out *out);
	int32_t (*key_check)(uint8_t *sealed, size_t nsealed, jc_out *out);
	/* cuda_lookup returns the blob. If there is none, or want is 0, it returns the sealed
	 * key, malloc'd. With want 0 core may be NULL. variables are the environment, each
	 * ending in a NUL. cuda_start begins a job. Its core and lease may be NULL; the job
	 * owns the lease from then on. */
	int32_t (*cuda_lookup)(void *core, jc_parts *parts, uint8_t *variables, size_t nvariables, int32_t want,
		jc_blob **blob, uint8_t **sealed, size_t *nsealed, jc_out *out);
	int32_t (*cuda_start)(void *core, jc_parts *parts, uint8_t *variables, size_t nvariables, int64_t timeout_ms,
		int32_t flags, void *lease, void **job, jc_out *out);
	/* cuda_load loads code. *refused says that the driver has refused it. */
	int32_t (*cuda_load)(
		jc_parts *parts, jc_blob *blob, void **module, void **handle, int32_t *refused, jc_out *out);
	int32_t (*cuda_unload)(void *module);
	int32_t (*cuda_function)(void *module, char *name, void **function, jc_out *out);
	/* cuda_text reads the log (expression NULL) or the lowered name of an expression from
	 * a blob's attributes; text is malloc'd. */
	int32_t (*cuda_text)(char *attributes, char *expression, char **text, jc_out *out);
	/* native_lookup returns what want asks for: the blob, or a sealed key, malloc'd.
	 * native_start begins a job; its core may be NULL. */
	int32_t (*native_lookup)(void *core, jc_parts *parts, uint8_t *variables, size_t nvariables, int32_t want,
		jc_blob **blob, uint8_t **sealed, size_t *nsealed, jc_out *out);
	int32_t (*native_start)(void *core, jc_parts *parts, uint8_t *variables, size_t nvariables, int64_t timeout_ms,
		int64_t limit_ms, int32_t flags, void **job, jc_out *out);
	/* job_step continues a job, and job_end ends it. *log gets malloc'd text. */
	int32_t (*job_step)(void *job, jc_blob **blob, int32_t *hit, char **log, jc_out *out);
	int32_t (*job_end)(void *job);
	/* Around fork: they take the locks of the core's C code. They are C, not Go. */
	void (*fork_prepare)(void);
	void (*fork_parent)(void);
	void (*fork_child)(void);
} jc_core;

/* The table of this copy of the library. It is the only exported symbol that is not
 * public: a forked child finds the core of the second copy by it. */
extern JITCACHE_API const jc_core jitcache_private_core;

#endif
