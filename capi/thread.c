/* thread.c: the error text of a thread, and what is freed when it ends. */
#include "thread.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "controls.h"
#include "log.h"
#include "signal_stack.h"

/* A thread's state is behind one pthread_key, not in _Thread_local. Go marks the
 * library STATIC_TLS, so its TLS comes from glibc's small surplus, once for every
 * copy that a chain of forks loads. With 8 bytes the surplus lasts for 40 copies;
 * with a buffer of a kilobyte the first copy fails to load. */
static pthread_key_t self_key;
static int self_ok;

static void end_lease(jc_handle lease)
{
	jc_handle_close(lease, JC_LEASE);
	jc_log_drain();
}

static void unwind_all(jc_thread *t)
{
	while (JC_CONTROL != JC_NO_UNWIND && t->nframes > 0)
		end_lease(t->frames[--t->nframes].lease);
}

static void thread_end(void *p)
{
	jc_thread *t = p;
	/* The destructors of the leases may ask for the thread's state again. */
	pthread_setspecific(self_key, t);
	unwind_all(t);
	pthread_setspecific(self_key, NULL);
	jc_signal_stack_free(t->stack);
	jc_thread_release(t);
}

__attribute__((constructor(102))) static void make_key(void)
{
	self_ok = pthread_key_create(&self_key, thread_end) == 0;
}

static jc_thread *self_if_any(void) { return self_ok ? pthread_getspecific(self_key) : NULL; }

jc_thread *jc_thread_self(void)
{
	jc_thread *t = self_if_any();
	if (t != NULL || !self_ok)
		return t;
	t = calloc(1, sizeof *t);
	if (t == NULL)
		return NULL;
	atomic_init(&t->refs, 1);
	if (pthread_setspecific(self_key, t) != 0) {
		free(t);
		return NULL;
	}
	return t;
}

void jc_thread_release(jc_thread *t)
{
	if (t == NULL || atomic_fetch_sub(&t->refs, 1) != 1)
		return;
	free(t->frames);
	free(t->compile_log);
	free(t);
}

/* same_stack says whether an address is on the calling thread's own stack. Code may
 * run on another stack, a coroutine's for example. Then addresses do not tell which
 * function called which. */
static int same_stack(const char *p)
{
	pthread_attr_t attr;
	void *low;
	size_t size;
	if (pthread_getattr_np(pthread_self(), &attr) != 0)
		return 0;
	int ok = pthread_attr_getstack(&attr, &low, &size) == 0;
	pthread_attr_destroy(&attr);
	return ok && p >= (char *)low && p < (char *)low + size;
}

void jc_unwind_to(char *frame)
{
	jc_thread *t = self_if_any();
	if (t == NULL || t->nframes == 0)
		return;
	/* Stacks grow down. If the callback still runs, this call comes from below the
	 * frame that called it. If longjmp has left the callback, it does not. */
	while (JC_CONTROL != JC_NO_UNWIND && t->nframes > 0) {
		jc_frame *f = &t->frames[t->nframes - 1];
		int inside = f->at > frame || !same_stack(frame) || !same_stack(f->at);
		if (inside && JC_CONTROL != JC_NO_FRAMES)
			return;
		t->nframes--;
		end_lease(f->lease);
	}
}

int32_t jc_fail(int32_t status, const char *format, ...)
{
	jc_thread *t = jc_thread_self();
	if (t != NULL) {
		va_list args;
		va_start(args, format);
		vsnprintf(t->error, sizeof t->error, format, args);
		va_end(args);
		for (char *p = t->error; *p != 0; p++)
			if (*p == '\n')
				*p = ' ';
	}
	return status;
}

int32_t jc_miss(int32_t status, int32_t reason)
{
	jc_thread *t = jc_thread_self();
	if (t != NULL)
		t->reason = reason;
	return status;
}

int32_t jc_finish(int32_t status, jc_out *out)
{
	if (status > 0 || out->reason != JITCACHE_REASON_NONE)
		jc_miss(status, out->reason);
	if (status < 0 || out->error != NULL)
		jc_fail(status, "%s", out->error != NULL ? out->error : jitcache_status_name(status));
	free(out->error);
	return status;
}

void jc_compile_log(char *log)
{
	jc_thread *t = log != NULL ? jc_thread_self() : self_if_any();
	if (t == NULL) {
		free(log);
		return;
	}
	free(t->compile_log);
	t->compile_log = log;
}

int32_t jc_bad_handle(const void *handle, const char *type)
{
	if (handle == NULL)
		return jc_fail(JITCACHE_ERR_ARGUMENT, "%s: NULL", type);
	return jc_fail(JITCACHE_ERR_HANDLE, "%s: released already, or not a %s", type, type);
}

int32_t jitcache_last_miss(void)
{
	jc_thread *t = self_if_any();
	return t == NULL ? JITCACHE_REASON_NONE : t->reason;
}

const char *jitcache_last_error(void)
{
	jc_thread *t = self_if_any();
	return t == NULL ? "" : t->error;
}

const char *jitcache_cuda_last_log(void)
{
	jc_thread *t = self_if_any();
	return t == NULL || t->compile_log == NULL ? "" : t->compile_log;
}
