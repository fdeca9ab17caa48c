/* job.h: jobs. A job looks a result up, waits for it or makes it, in steps. */
#ifndef JC_JOB_H
#define JC_JOB_H

#include "core.h"
#include "handles.h"
#include "thread.h"

/* jc_job_environment packs the host's present variables, each ending in a NUL. The
 * caller frees variables->data. It must do so also if the call returns 0, which means that
 * there is no memory. */
int jc_job_environment(jc_bytes *variables);

/* jc_job_publish makes a handle for a job that the core has begun for a thread. If it
 * fails, it ends the job. cache may be 0. */
int32_t jc_job_publish(const jc_core *core, void *begun, jc_handle cache, jc_thread *t, jc_handle *out);

/* jc_job_step continues a job, for at most 100 ms. It returns BUSY if the job is not
 * done. hit may be NULL. */
int32_t jc_job_step(jc_handle job, jitcache_blob **blob, int32_t *hit);

#endif
