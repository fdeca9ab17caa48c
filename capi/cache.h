/* cache.h: opened caches. */
#ifndef JC_CACHE_H
#define JC_CACHE_H

#include <stdatomic.h>

#include "core.h"
#include "handles.h"
#include "uncounted_misses.h"

typedef struct jc_cache {
	struct jc_cache *next; /* list of all, under jc_caches_lock */
	jc_handle handle;
	char *settings; /* to open it again in a forked child */
	size_t nsettings;
	jc_memory *memory;
	int lookups;   /* memory answers lookups */
	int more;      /* jc_opened */
	char *entries; /* jc_opened */
	/* Until this time, by the clock of calls.c, the core does not look beyond the
	 * directories (jc_out). A forked child keeps it, because the clock is the machine's. */
	_Atomic int64_t quiet;
	_Atomic int32_t quiet_why; /* the reason of misses until then; 0: absent */
	jc_misses misses;
	_Atomic uint32_t generation;
	void *_Atomic core; /* of that generation */
} jc_cache;

/* jc_cache_core returns the core's half of a cache, and opens the cache again in a
 * forked child. If it returns NULL, *status is the status to return. */
void *jc_cache_core(jc_cache *c, const jc_core *core, int32_t *status);

/* jc_cache_why returns the reason of a miss that ends in the front. If it changes,
 * misses that the core has not counted yet are counted for the new reason. */
static inline int32_t jc_cache_why(const jc_cache *c)
{
	int32_t why = atomic_load_explicit(&c->quiet_why, memory_order_relaxed);
	return why != 0 ? why : JITCACHE_REASON_ABSENT;
}

/* jc_cache_maintain does what a hit in memory asks for (due, see memory.h). */
void jc_cache_maintain(jc_cache *c, const uint8_t *id, int due);

/* Around fork, under jc_caches_lock: the locks of the tiers in memory. */
void jc_caches_fork_prepare(void);
void jc_caches_fork_parent(void);
void jc_caches_fork_child(void);

#endif
