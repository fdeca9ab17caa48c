/* locks.h: all locks of the front, in the order in which they are taken. fork
 * takes them all, so that no child finds one held by a thread that it does not
 * have. */
#ifndef JC_LOCKS_H
#define JC_LOCKS_H

#include <pthread.h>

extern pthread_mutex_t jc_path_lock;    /* making paths to blobs */
extern pthread_mutex_t jc_start_lock;   /* starting a core */
extern pthread_mutex_t jc_reopen_lock;  /* opening caches again in a forked child */
extern pthread_mutex_t jc_caches_lock;  /* the list of caches */
extern pthread_mutex_t jc_freeze_lock;  /* freezing keys */
extern pthread_mutex_t jc_log_lock;     /* the log's queue and callback */
extern pthread_mutex_t jc_handles_lock; /* growing the table of handles */

/* Around fork: prepare takes every lock, parent gives them back, child makes them
 * new. */
void jc_locks_fork_prepare(void);
void jc_locks_fork_parent(void);
void jc_locks_fork_child(void);

#endif
