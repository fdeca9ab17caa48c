/* cache.h: opened caches. */
#ifndef JC_CACHE_H
#define JC_CACHE_H

#include <stdatomic.h>

#include "core.h"
#include "handles.h"
#include "misses.h"

typedef struct jc_cache {
	struct jc_cache *next; /* list of all, under jc_caches_lock */
	jc_handle handle;
	char *settings; /* to open it again in a forked child */
	size_t nsettings;
	jc_memory *memory;
	int lookups;   /* memory answers lookups */
	int more;      /* jc_opened */
	char *entries; /* jc_opened */
	/* Until when the core looks nowhere else for what has no file (jc_out), by
	 * the clock of calls.c. A forked child goes on with it: that clock is the machine's. */
	_Atomic int64_t quiet;
	_Atomic int32_t quiet_why; /* what a lookup misses for meanwhile; 0: that it is absent */
	jc_misses misses;
	_Atomic uint32_t generation;
	void *_Atomic core; /* of that generation */
} jc_cache;

/* jc_cache_core returns the core's half of a cache, opening it again in a
 * forked child. If it is NULL, *status is what to return. */
void *jc_cache_core(jc_cache *c, const jc_core *core, int32_t *status);

/* jc_cache_why returns the reason of a lookup that ends in the front. Those that were not
 * counted yet when it changes are counted for the new one. */
static inline int32_t jc_cache_why(const jc_cache *c)
{
	int32_t why = atomic_load_explicit(&c->quiet_why, memory_order_relaxed);
	return why != 0 ? why : JITCACHE_REASON_ABSENT;
}

/* jc_cache_maintain does what a hit in memory has asked for. */
void jc_cache_maintain(jc_cache *c, const uint8_t *id, int due);

/* Around fork, under jc_caches_lock: the locks of the tiers in memory. */
void jc_caches_fork_prepare(void);
void jc_caches_fork_parent(void);
void jc_caches_fork_child(void);

#endif
