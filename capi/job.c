/* job.c: continues a job until it is done or its time is over. */
#include "job.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "blob_handle.h"
#include "bytes.h"
#include "log.h"
#include "runtime.h"

extern char **environ;

int jc_job_environment(jc_bytes *all)
{
	if (!jc_bytes_reserve(all, 4096)) /* most are no larger */
		return 0;
	for (char **e = environ; e != NULL && *e != NULL; e++) {
		size_t n = strlen(*e) + 1;
		if (!jc_bytes_reserve(all, n))
			return 0;
		jc_bytes_append(all, *e, n);
	}
	return 1;
}

typedef struct job {
	void *core; /* the core's job */
	uint32_t generation;
	jc_handle cache_handle; /* entered; 0: none */
	jc_thread *thread;      /* the thread that started it */
} job;

static void destroy(void *object, jc_extra *extra)
{
	(void)extra;
	job *j = object;
	if (j->generation == jc_core_generation()) {
		const jc_core *core = jc_core_running();
		if (core != NULL)
			core->job_end(j->core);
	}
	atomic_fetch_sub(&j->thread->holding, 1);
	jc_thread_release(j->thread);
	if (j->cache_handle != 0)
		jc_handle_leave(j->cache_handle);
	free(j);
}

int32_t jc_job_publish(const jc_core *core, void *begun, jc_handle cache, jc_thread *t, jc_handle *out)
{
	job *j = calloc(1, sizeof *j);
	if (j == NULL) {
		core->job_end(begun);
		return jc_fail(JITCACHE_ERR_MEMORY, "job: no memory");
	}
	j->core = begun;
	j->generation = jc_core_generation();
	j->cache_handle = cache != 0 && jc_handle_enter(cache, JC_CACHE) != NULL ? cache : 0;
	j->thread = t;
	/* The job will hold a lease, so other calls of this thread must not wait. */
	atomic_fetch_add(&t->holding, 1);
	atomic_fetch_add(&t->refs, 1);
	*out = jc_handle_new(JC_JOB, j, (jc_extra){0}, destroy);
	if (*out == 0) {
		destroy(j, NULL);
		return jc_fail(JITCACHE_ERR_MEMORY, "job: no memory");
	}
	return JITCACHE_OK;
}

int32_t jc_job_step(jc_handle handle, jitcache_blob **blob, int32_t *hit)
{
	jc_out out = {0};
	jc_blob *found = NULL;
	int32_t was_there = 0;
	char *log = NULL;
	*blob = NULL;
	job *j = jc_handle_enter(handle, JC_JOB);
	if (j == NULL)
		return jc_bad_handle(JC_POINTER(void, handle), "job");
	const jc_core *core = jc_core_get();
	int32_t status;
	if (core == NULL || j->generation != jc_core_generation()) {
		status = jc_fail(JITCACHE_ERR_FORK, "job: begun by the parent of this process");
	} else {
		jc_compile_log(NULL);
		status = core->job_step(j->core, &found, &was_there, &log, &out);
		status = jc_finish(status, &out);
		jc_compile_log(log);
	}
	if (hit != NULL)
		*hit = was_there;
	if (found != NULL) {
		int32_t given = jc_blob_handle(found, j->cache_handle, blob);
		status = given == JITCACHE_OK ? status : given;
	}
	jc_handle_leave(handle);
	jc_log_drain();
	return status;
}
