/* hits.c: hits by kind, until they are written to the ledger. */
#include "tier.h"

#include <string.h>

int jc_memory_kind(jc_memory *m, const char *kind)
{
	int n = atomic_load_explicit(&m->nkinds, memory_order_acquire);
	for (int i = 0; i < n; i++)
		if (strcmp(m->kinds[i], kind) == 0)
			return i;
	jc_mutex_lock(&m->shards[0].lock);
	n = atomic_load_explicit(&m->nkinds, memory_order_relaxed);
	int i = 0;
	while (i < n && strcmp(m->kinds[i], kind) != 0)
		i++;
	if (i == JC_MEMORY_KINDS)
		i = JC_MEMORY_KINDS - 1;
	else if (i == n) {
		/* The last slot is for all kinds that found no slot of their own. */
		const char *name = i == JC_MEMORY_KINDS - 1 ? "other" : kind;
		memcpy(m->kinds[i], name, strnlen(name, 16));
		atomic_store_explicit(&m->nkinds, n + 1, memory_order_release);
	}
	jc_mutex_unlock(&m->shards[0].lock);
	return i;
}

int jc_memory_drain(jc_memory *m, jc_memory_hits hits[JC_MEMORY_KINDS])
{
	count all[JC_MEMORY_KINDS] = {0};
	for (int i = 0; i < SHARDS; i++) {
		shard *s = &m->shards[i];
		jc_mutex_lock(&s->lock);
		for (int k = 0; k < JC_MEMORY_KINDS; k++) {
			all[k].hits += s->used[k].hits;
			all[k].saved += s->used[k].saved;
			s->used[k] = (count){0};
		}
		jc_mutex_unlock(&s->lock);
	}
	int wrote = 0;
	for (int k = 0; k < JC_MEMORY_KINDS; k++) {
		if (all[k].hits == 0)
			continue;
		memcpy(hits[wrote].kind, m->kinds[k], sizeof hits[wrote].kind);
		hits[wrote].hits = all[k].hits;
		hits[wrote].saved = all[k].saved;
		wrote++;
	}
	return wrote;
}

void jc_memory_count(jc_memory *m, const char *kind, uint64_t n)
{
	char name[17] = {0};
	memcpy(name, kind, strnlen(kind, 16));
	int i = jc_memory_kind(m, name);
	jc_mutex_lock(&m->shards[0].lock);
	m->shards[0].used[i].hits += n;
	jc_mutex_unlock(&m->shards[0].lock);
}

int jc_memory_counted(jc_memory *m)
{
	uint64_t n = 0;
	for (int i = 0; i < SHARDS; i++) {
		shard *s = &m->shards[i];
		jc_mutex_lock(&s->lock);
		for (int k = 0; k < JC_MEMORY_KINDS; k++)
			n += s->used[k].hits;
		jc_mutex_unlock(&s->lock);
	}
	return n > 0;
}
