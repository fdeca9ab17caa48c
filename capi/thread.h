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
	_Atomic int refs;    /* the thread, and the leases granted to it */
	_Atomic int holding; /* leases */
	uint32_t entered;    /* the core's generation that this thread has called */
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

#endif
