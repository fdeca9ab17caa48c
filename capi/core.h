/* core.h: what the two halves of the library know about each other.
 *
 * The front is C: the public functions, the handles, everything that must work
 * in a forked child before a Go runtime runs there. The core is Go, behind a
 * table of functions. In a forked child the front uses the table of a second
 * copy of the library (runtime.c), so nothing here may refer to a variable of the
 * library it happens to be compiled into.
 */
#ifndef JC_CORE_H
#define JC_CORE_H

#include <stddef.h>
#include <stdint.h>

#include "../core/blob/blob.h"
#include "../core/memory/memory.h"
#include "../include/jitcache_native.h"

/* Beside the status: the reason of a miss, and one line of text for an error,
 * in malloc'd memory that becomes the caller's. quiet_ns is of a miss: for so long
 * the core would look nowhere else for what has no file, because its remotes are off, and
 * would miss for the reason quiet_why. */
typedef struct jc_out {
	int32_t reason;
	char *error;
	int64_t quiet_ns;
	int32_t quiet_why;
} jc_out;

/* What an opened cache is to the front. */
typedef struct jc_opened {
	void *core;        /* of pointer.go */
	jc_memory *memory; /* NULL: no tier in memory */
	int32_t lookups;   /* whether the tier answers lookups: not with JITCACHE=refresh */
	int32_t more;      /* whether the core goes on where no directory has an entry */
	/* What the paths of entries begin with, in each directory that is looked at: the own
	 * one, then the layers. Each is ended by a NUL, and the list by an empty one; malloc'd.
	 * NULL: who looks up asks the core. */
	char *entries;
} jc_opened;

/* A path to a blob (jitcache_blob_path). The front gives it up by itself:
 * unlink, or close of fd if that is not negative. */
typedef struct jc_pin {
	char *path; /* malloc'd */
	int32_t fd;
} jc_pin;

/* A request to compile: the source, the other parts as
 * jitcache_cuda_request_packed has them, and the BLAKE3 of either. */
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
	void (*log)(int32_t level, char *text); /* text is malloc'd, and taken */
	const char *observer;                   /* path of jitcache-observe, "" if there is none */
	_Atomic int32_t stopped;                /* the core has panicked: it sets this, and answers no more calls */
} jc_front;

/* An entry's file, opened by the front, which closes it. fd is -1 if it is not, and
 * -ENOENT if there is none. in, nin bytes, is that of jc_opened's paths where it is. The
 * core may have been opened again since, and have other directories now. The ticket is that of
 * memory.h, taken before. */
typedef struct jc_file {
	int32_t fd;
	uint32_t nin;
	const char *in;
	uint64_t ticket;
} jc_file;

/* Flags of acquire. */
#define JC_HOLDING 1 /* the thread holds a lease already */
#define JC_AGAIN 2   /* called again after BUSY */

/* What native_lookup is to give. */
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
	/* settings: option names and values, then environment names and values,
	 * each ended by a NUL, the two lists by an empty name. memory: the tier to
	 * go on with, or NULL. */
	int32_t (*open)(char *settings, size_t size, jc_memory *memory, jc_opened *opened, jc_out *out);
	int32_t (*close)(void *core);
	int32_t (*flush)(void *core);
	int32_t (*leave)(void *core);
	int32_t (*get)(void *core, uint8_t *sealed, size_t nsealed, jc_file *file, jc_blob **blob, jc_out *out);
	int32_t (*get_into)(void *core, uint8_t *sealed, size_t nsealed, jc_file *file, uint8_t *buffer,
		size_t capacity, size_t *size, jc_out *out);
	int32_t (*put)(void *core, uint8_t *sealed, size_t nsealed, uint8_t *data, size_t size, char *attributes,
		uint32_t flags, jc_out *out);
	int32_t (*acquire)(void *core, uint8_t *sealed, size_t nsealed, int64_t timeout_ms, int32_t flags,
		jc_blob **blob, void **lease, jc_out *out);
	int32_t (*commit)(
		void *lease, uint8_t *data, size_t size, char *attributes, int32_t want, jc_blob **blob, jc_out *out);
	int32_t (*release)(void *lease);
	int32_t (*remove)(void *core, uint8_t *sealed, size_t nsealed, jc_out *out);
	int32_t (*maintain)(void *core, uint8_t *id, int32_t due);
	int32_t (*used)(void *core, uint8_t *sealed, uint64_t n);
	/* missed counts lookups of entries that were not there, or, while remotes are off, are in
	 * no directory. */
	int32_t (*missed)(void *core, char *kind, int32_t why, uint64_t n);
	int32_t (*trim)(void *core, jc_out *out);
	int32_t (*clear)(void *core, char *kind, jc_out *out);
	int32_t (*verify)(void *core, jc_blob **report, jc_out *out);
	int32_t (*count)(void *core, uint64_t *entries, jc_out *out);
	/* keys gets the keys of one part of the directory, 32 bytes each; MISS: there
	 * are fewer parts. describe gets what is known of an entry; MISS: it is none of
	 * that kind. */
	int32_t (*keys)(void *core, int32_t part, jc_blob **keys, jc_out *out);
	int32_t (*describe)(void *core, uint8_t *id, char *kind, jc_blob **json, jc_out *out);
	int32_t (*stats)(void *core, jc_blob **json, jc_out *out);
	int32_t (*explain)(void *core, uint8_t *sealed, size_t nsealed, jc_blob **json, jc_out *out);
	/* core may be NULL: then the path is to a copy. */
	int32_t (*pin)(void *core, jc_blob *blob, char *tempdir, jc_pin *pin, jc_out *out);
	/* value and input get malloc'd bytes. */
	int32_t (*key_input)(
		int32_t tag, char *path, uint8_t **value, size_t *nvalue, uint8_t **input, size_t *ninput, jc_out *out);
	/* digest gets 32 bytes. */
	int32_t (*key_digest)(uint8_t *data, size_t size, uint8_t *digest);
	int32_t (*key_seal)(uint8_t *packed, size_t npacked, uint8_t *inputs, size_t ninputs, char *name, char *kind,
		uint8_t **sealed, size_t *nsealed, jc_out *out);
	int32_t (*key_check)(uint8_t *sealed, size_t nsealed, jc_out *out);
	/* cuda_lookup gives the blob or, if it is not there or with want 0, the sealed
	 * key, malloc'd. core may be NULL with want 0. variables are the environment, each
	 * ended by a NUL. cuda_start begins a job; core may be NULL for it, and lease, which
	 * becomes the job's. */
	int32_t (*cuda_lookup)(void *core, jc_parts *parts, uint8_t *variables, size_t nvariables, int32_t want,
		jc_blob **blob, uint8_t **sealed, size_t *nsealed, jc_out *out);
	int32_t (*cuda_start)(void *core, jc_parts *parts, uint8_t *variables, size_t nvariables, int64_t timeout_ms,
		int32_t flags, void *lease, void **job, jc_out *out);
	/* *refused says that an error is the code's fault. */
	int32_t (*cuda_load)(
		jc_parts *parts, jc_blob *blob, void **module, void **handle, int32_t *refused, jc_out *out);
	int32_t (*cuda_unload)(void *module);
	int32_t (*cuda_function)(void *module, char *name, void **function, jc_out *out);
	/* cuda_text gets the log, or the lowered name of an expression, out of
	 * attributes; text is malloc'd. */
	int32_t (*cuda_text)(char *attributes, char *expression, char **text, jc_out *out);
	/* native_lookup gives what is wanted: the blob, or a sealed key, malloc'd.
	 * native_start begins a job; core may be NULL for it. */
	int32_t (*native_lookup)(void *core, jc_parts *parts, uint8_t *variables, size_t nvariables, int32_t want,
		jc_blob **blob, uint8_t **sealed, size_t *nsealed, jc_out *out);
	int32_t (*native_start)(void *core, jc_parts *parts, uint8_t *variables, size_t nvariables, int64_t timeout_ms,
		int64_t limit_ms, int32_t flags, void **job, jc_out *out);
	/* job_step goes on with a job, and job_end ends it. log gets malloc'd text. */
	int32_t (*job_step)(void *job, jc_blob **blob, int32_t *hit, char **log, jc_out *out);
	int32_t (*job_end)(void *job);
	/* Around fork; C, and not Go: the locks that C code of the core has. */
	void (*fork_prepare)(void);
	void (*fork_parent)(void);
	void (*fork_child)(void);
} jc_core;

/* The table of this copy of the library. It is the one symbol that is exported
 * and not public: a forked child finds the core of the second copy by it. */
extern JITCACHE_API const jc_core jitcache_private_core;

#endif
