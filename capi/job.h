/* job.h: what the core makes in steps: a result that is looked up, waited for or made. */
#ifndef JC_JOB_H
#define JC_JOB_H

#include "core.h"
#include "handles.h"
#include "thread.h"

/* jc_job_environment packs the host's variables, each ended by a NUL, as they are now;
 * the caller frees variables->data. 0: there is no memory. */
int jc_job_environment(jc_bytes *variables);

/* jc_job_publish makes a handle of a job that the core has begun, for a thread, or ends
 * it. cache may be 0. */
int32_t jc_job_publish(const jc_core *core, void *begun, jc_handle cache, jc_thread *t, jc_handle *out);

/* jc_job_step goes on, for at most 100 ms: BUSY, or it is over. hit may be NULL. */
int32_t jc_job_step(jc_handle job, jitcache_blob **blob, int32_t *hit);

#endif
