/* handles.h: handles, which the host holds instead of pointers.
 *
 * A handle is a word: kind, index of a slot, generation. It is never
 * dereferenced, so a stale or foreign one is an error and not a crash. When a
 * slot is used again, its generation is the next one. */
#ifndef JC_HANDLES_H
#define JC_HANDLES_H

#include <stdint.h>

typedef uint64_t jc_handle;

enum jc_kind {
	JC_OPTIONS = 1,
	JC_CACHE,
	JC_KEY,
	JC_BLOB,
	JC_LEASE,
	JC_REQUEST,
	JC_MODULE,
	JC_NATIVE,
	JC_JOB,
	JC_CURSOR
};

/* What a slot of a blob holds beside the object. It is in the slot because every hit
 * makes a handle, and must not pay for an allocation. */
typedef struct jc_extra {
	jc_handle cache;      /* where the blob was found; 0: nowhere */
	struct jc_path *path; /* NULL until asked for */
} jc_extra;

/* Ends an object, when the last reference to its handle is dropped. */
typedef void jc_destroy(void *object, jc_extra *extra);

/* jc_handle_new returns a handle on object with one reference, 0 if there is no
 * memory. */
jc_handle jc_handle_new(enum jc_kind kind, void *object, jc_extra extra, jc_destroy *destroy);

/* jc_handle_enter returns the object and adds a reference, or NULL if the handle
 * is stale, closed or of another kind. jc_handle_leave drops it. */
void *jc_handle_enter(jc_handle h, enum jc_kind kind);
void jc_handle_leave(jc_handle h);

/* jc_handle_release drops a reference of the host's. It returns 0 if the handle is
 * stale, closed or of another kind. */
int jc_handle_release(jc_handle h, enum jc_kind kind);

/* jc_handle_hold adds a reference to a handle that may be closed. It returns 0 if
 * the object is gone. */
int jc_handle_hold(jc_handle h);

/* jc_handle_peek returns the object without a reference. */
void *jc_handle_peek(jc_handle h, enum jc_kind kind);

/* jc_handle_extra returns the extra of an entered handle. */
jc_extra *jc_handle_extra(jc_handle h);

/* jc_handle_close drops the first reference; from then on nobody can enter. It
 * returns 0 if the handle is stale, closed or of another kind. The object ends with
 * the last reference. */
int jc_handle_close(jc_handle h, enum jc_kind kind);

/* jc_handles_live counts the handles in use, for leak tests. */
uint64_t jc_handles_live(void);

/* A handle as the opaque pointer that the host sees, and back. */
#define JC_POINTER(type, h) ((type *)(uintptr_t)(h))
#define JC_HANDLE(p) ((jc_handle)(uintptr_t)(p))

#endif
