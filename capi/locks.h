/* locks.h: the locks of the front. mutex.h has their order. */
#ifndef JC_LOCKS_H
#define JC_LOCKS_H

#include "../core/mutex/mutex.h"

extern jc_mutex jc_path_lock;    /* making paths to blobs */
extern jc_mutex jc_start_lock;   /* starting a core */
extern jc_mutex jc_reopen_lock;  /* opening caches again in a forked child */
extern jc_mutex jc_caches_lock;  /* the list of caches */
extern jc_mutex jc_freeze_lock;  /* freezing keys and requests */
extern jc_mutex jc_log_lock;     /* the log's queue and callback */
extern jc_mutex jc_handles_lock; /* growing the table of handles */

/* Around fork: prepare takes all of them, parent gives them back, child makes them
 * new. */
void jc_locks_fork_prepare(void);
void jc_locks_fork_parent(void);
void jc_locks_fork_child(void);

#endif
