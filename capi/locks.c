#include "locks.h"

pthread_mutex_t jc_path_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t jc_start_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t jc_reopen_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t jc_caches_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t jc_freeze_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t jc_log_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t jc_handles_lock = PTHREAD_MUTEX_INITIALIZER;

static pthread_mutex_t *const locks[] = {&jc_path_lock, &jc_start_lock, &jc_reopen_lock, &jc_caches_lock,
	&jc_freeze_lock, &jc_log_lock, &jc_handles_lock};
#define NLOCKS (sizeof locks / sizeof locks[0])

void jc_locks_fork_prepare(void)
{
	for (size_t i = 0; i < NLOCKS; i++)
		pthread_mutex_lock(locks[i]);
}

void jc_locks_fork_parent(void)
{
	for (size_t i = NLOCKS; i-- > 0;)
		pthread_mutex_unlock(locks[i]);
}

void jc_locks_fork_child(void)
{
	for (size_t i = 0; i < NLOCKS; i++)
		pthread_mutex_init(locks[i], NULL);
}
