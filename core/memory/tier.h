/* tier.h: the data of a tier, for the files of this folder. */
#ifndef JC_TIER_H
#define JC_TIER_H

#include "../mutex/mutex.h"
#include "memory.h"

/* Each shard has a lock, so that eight threads that only hit rarely wait for each
 * other. A power of two. */
#define SHARDS 16
#define LINE 64

typedef struct count {
	uint64_t hits, saved;
} count;

typedef struct shard {
	_Alignas(LINE) jc_mutex lock;
	struct node **buckets;
	size_t nbuckets; /* a power of two */
	struct node *newest, *oldest;
	size_t count;
	_Atomic uint64_t oldest_tick; /* UINT64_MAX if empty; read without the lock */
	count used[JC_MEMORY_KINDS];
} shard;

struct jc_memory {
	jc_memory_words words; /* first, see memory.h */
	uint64_t cap;
	_Atomic uint64_t bytes;
	_Atomic uint64_t clock;
	_Atomic uint64_t epoch;
	_Atomic int64_t flush_at;
	_Atomic int nkinds; /* one is added under the lock of the first shard */
	char kinds[JC_MEMORY_KINDS][17];
	shard shards[SHARDS];
};

/* jc_memory_kind returns the index of a kind in shard.used. */
int jc_memory_kind(jc_memory *m, const char *kind);

#endif
