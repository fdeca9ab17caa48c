/* mutex.h: the library's mutexes, and the order in which they are taken.
 *
 * A thread that holds a mutex takes only mutexes of a higher rank. fork takes them
 * all, in this order, so that in the child none is held by a thread that does not
 * exist there. A build with JC_RANKS (build_library.py --ranks) checks every lock
 * that is taken, and aborts if the order is broken. In any other build a mutex is just
 * pthread's.
 */
#ifndef JC_MUTEX_H
#define JC_MUTEX_H

#include <pthread.h>

/* Each lock's definition says what it guards. A thread must not take two locks of the
 * same rank, except in fork, which takes all shards of all tiers. */
enum jc_rank {
	JC_RANK_PATH = 1, /* capi: making paths to blobs */
	JC_RANK_START,    /* capi: starting a core */
	JC_RANK_REOPEN,   /* capi: opening caches again in a forked child */
	JC_RANK_CACHES,   /* capi: the list of caches */
	JC_RANK_FREEZE,   /* capi: freezing keys and requests */
	JC_RANK_LOG,      /* capi: the log's queue and callback */
	JC_RANK_HANDLES,  /* capi: growing the table of handles */
	JC_RANK_SHARD,    /* core/memory: a shard of a tier */
	JC_RANK_LOADER,   /* cuda/dl: asking the loader */
	JC_NRANKS,
};

typedef struct jc_mutex {
	pthread_mutex_t lock;
#ifdef JC_RANKS
	enum jc_rank rank;
#endif
} jc_mutex;

/* Adaptive, so that a waiter spins first: most locks are held for tens of nanoseconds,
 * and sleeping costs microseconds. */
#ifdef JC_RANKS
#define JC_MUTEX(rank) {PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP, rank}
#else
#define JC_MUTEX(rank) {PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP}
#endif

void jc_mutex_init(jc_mutex *m, enum jc_rank rank);

#ifdef JC_RANKS
void jc_rank_take(enum jc_rank rank);
void jc_rank_give(enum jc_rank rank);

/* jc_rank_fork_begin lets this thread take many locks of one rank, as fork does, until
 * jc_rank_fork_end. jc_rank_forked is for the child, which holds nothing. */
void jc_rank_fork_begin(void);
void jc_rank_fork_end(void);
void jc_rank_forked(void);

/* jc_rank_none aborts if this thread holds anything: it is about to return to the
 * host, or to call it. */
void jc_rank_none(void);
#else
static inline void jc_rank_take(enum jc_rank rank) { (void)rank; }
static inline void jc_rank_give(enum jc_rank rank) { (void)rank; }
static inline void jc_rank_fork_begin(void) {}
static inline void jc_rank_fork_end(void) {}
static inline void jc_rank_forked(void) {}
static inline void jc_rank_none(void) {}
#endif

#ifdef JC_RANKS
#define JC_RANK_OF(m) ((m)->rank)
#else
#define JC_RANK_OF(m) JC_NRANKS
#endif

static inline void jc_mutex_lock(jc_mutex *m)
{
	jc_rank_take(JC_RANK_OF(m));
	pthread_mutex_lock(&m->lock);
}

static inline void jc_mutex_unlock(jc_mutex *m)
{
	pthread_mutex_unlock(&m->lock);
	jc_rank_give(JC_RANK_OF(m));
}

/* jc_mutex_lock_within locks and returns 1. If that takes longer than milliseconds, it
 * returns 0. */
int jc_mutex_lock_within(jc_mutex *m, int milliseconds);

#endif
