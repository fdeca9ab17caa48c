/* mutex.c: mutexes that can be taken within a time, and the check of their order in a build with
 * JC_RANKS. */
#include "mutex.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void jc_mutex_init(jc_mutex *m, enum jc_rank rank)
{
	pthread_mutexattr_t attr;
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ADAPTIVE_NP);
	pthread_mutex_init(&m->lock, &attr);
	pthread_mutexattr_destroy(&attr);
#ifdef JC_RANKS
	m->rank = rank;
#else
	(void)rank;
#endif
}

static int64_t now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* It polls, because the clock of pthread_mutex_timedlock may be set back. */
int jc_mutex_lock_within(jc_mutex *m, int milliseconds)
{
	int64_t end = now_ms() + milliseconds;
	while (pthread_mutex_trylock(&m->lock) != 0) {
		if (now_ms() > end)
			return 0;
		usleep(200);
	}
	jc_rank_take(JC_RANK_OF(m));
	return 1;
}

#ifdef JC_RANKS

static const char *const names[JC_NRANKS] = {
	"nothing", "path", "start", "reopen", "caches", "freeze", "log", "handles", "shard", "loader"};

/* The locks that a thread holds. Not _Thread_local, because each copy of the library
 * that a chain of forks loads would take some of glibc's small surplus. */
typedef struct held {
	unsigned count[JC_NRANKS];
	int forks;
} held;

static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_key(void) { pthread_key_create(&key, free); }

static held *mine(void)
{
	pthread_once(&once, make_key);
	held *h = pthread_getspecific(key);
	if (h == NULL && ((h = calloc(1, sizeof *h)) == NULL || pthread_setspecific(key, h) != 0))
		abort();
	return h;
}

static void broken(const char *what, enum jc_rank rank, const held *h)
{
	fprintf(stderr, "jitcache: %s \"%s\" while this thread holds", what, names[rank]);
	for (int i = 1; i < JC_NRANKS; i++)
		if (h->count[i] > 0)
			fprintf(stderr, " \"%s\"", names[i]);
	fputc('\n', stderr);
	abort();
}

void jc_rank_take(enum jc_rank rank)
{
	held *h = mine();
	for (int i = rank; i < JC_NRANKS; i++)
		if (h->count[i] > 0 && !(h->forks && i == (int)rank))
			broken("takes lock", rank, h);
	h->count[rank]++;
}

void jc_rank_give(enum jc_rank rank)
{
	held *h = mine();
	if (h->count[rank]-- == 0)
		broken("gives lock", rank, h);
}

void jc_rank_fork_begin(void) { mine()->forks = 1; }

void jc_rank_fork_end(void) { mine()->forks = 0; }

void jc_rank_forked(void) { memset(mine(), 0, sizeof(held)); }

void jc_rank_none(void)
{
	const held *h = mine();
	for (int i = 1; i < JC_NRANKS; i++)
		if (h->count[i] > 0)
			broken("returns from", 0, h);
}

#endif
