/* locks.c: takes all locks around fork, and gives them back. */
#include "locks.h"

#include <stddef.h>

jc_mutex jc_path_lock = JC_MUTEX(JC_RANK_PATH);
jc_mutex jc_start_lock = JC_MUTEX(JC_RANK_START);
jc_mutex jc_reopen_lock = JC_MUTEX(JC_RANK_REOPEN);
jc_mutex jc_caches_lock = JC_MUTEX(JC_RANK_CACHES);
jc_mutex jc_freeze_lock = JC_MUTEX(JC_RANK_FREEZE);
jc_mutex jc_log_lock = JC_MUTEX(JC_RANK_LOG);
jc_mutex jc_handles_lock = JC_MUTEX(JC_RANK_HANDLES);

static const struct {
	jc_mutex *lock;
	enum jc_rank rank;
} locks[] = {
	{&jc_path_lock, JC_RANK_PATH},
	{&jc_start_lock, JC_RANK_START},
	{&jc_reopen_lock, JC_RANK_REOPEN},
	{&jc_caches_lock, JC_RANK_CACHES},
	{&jc_freeze_lock, JC_RANK_FREEZE},
	{&jc_log_lock, JC_RANK_LOG},
	{&jc_handles_lock, JC_RANK_HANDLES},
};
#define NLOCKS (sizeof locks / sizeof locks[0])

void jc_locks_fork_prepare(void)
{
	for (size_t i = 0; i < NLOCKS; i++)
		jc_mutex_lock(locks[i].lock);
}

void jc_locks_fork_parent(void)
{
	for (size_t i = NLOCKS; i-- > 0;)
		jc_mutex_unlock(locks[i].lock);
}

void jc_locks_fork_child(void)
{
	for (size_t i = 0; i < NLOCKS; i++)
		jc_mutex_init(locks[i].lock, locks[i].rank);
}
