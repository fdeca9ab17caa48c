/* thread.h: what belongs to a thread. */
#ifndef JC_THREAD_H
#define JC_THREAD_H

#include <stdatomic.h>

#include "core.h"
#include "handles.h"

typedef struct jc_frame {
	jc_handle lease;
	char *at; /* address in the frame of jitcache_get_or_compile */
} jc_frame;

typedef struct jc_thread {
	_Atomic int refs;    /* one of the thread, and one of each lease granted to it */
	_Atomic int holding; /* number of leases */
	uint32_t entered;    /* the generation of the core that this thread has called */
	char *stack;         /* for signals; NULL if the thread had one */
	int32_t reason;      /* of the last miss */
	char *compile_log;   /* of the last ERR_COMPILE; malloc'd */
	int busy;            /* the last acquire was BUSY, on busy_id */
	uint8_t busy_id[32];
	jc_frame *frames; /* callbacks in progress, the innermost last */
	int nframes, capframes;
	char error[4096]; /* long: if a library is not found, it lists all places that were looked at */
} jc_thread;

/* jc_thread_self returns the calling thread's state, NULL if there is no memory
 * for it. */
jc_thread *jc_thread_self(void);
void jc_thread_release(jc_thread *t);

/* jc_thread_unwind gives up the leases of callbacks that longjmp has left: they were
 * called from the frame that now calls the library, or from below it. Every public
 * function that may call the core starts with it. */
void jc_unwind_to(char *frame);
#define jc_thread_unwind() jc_unwind_to(__builtin_frame_address(0))

/* jc_fail notes an error for jitcache_last_error and returns status. */
int32_t jc_fail(int32_t status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* jc_miss notes a reason for jitcache_last_miss and returns status. */
int32_t jc_miss(int32_t status, int32_t reason);

/* jc_finish ends a call of the core: it notes the reason and the error in out, frees
 * the error, and returns status. */
int32_t jc_finish(int32_t status, jc_out *out);

/* jc_compile_log sets the text of jitcache_cuda_last_log: malloc'd, the thread frees
 * it; NULL for none. */
void jc_compile_log(char *log);

/* jc_bad_handle returns the error for a handle of the named type. */
int32_t jc_bad_handle(const void *handle, const char *type);

#endif
