/* uncounted_misses.c: the table of misses by kind. */
#include "uncounted_misses.h"

#include <string.h>

#include "locks.h"

static int find(const jc_misses *m, int n, const uint8_t kind[16])
{
	int i = 0;
	while (i < n && memcmp(m->kinds[i], kind, 16) != 0)
		i++;
	return i;
}

static int add_kind(jc_misses *m, const uint8_t kind[16])
{
	jc_mutex_lock(&jc_caches_lock);
	int n = atomic_load_explicit(&m->nkinds, memory_order_relaxed), i = find(m, n, kind);
	if (i == n && n < JC_MISS_KINDS) {
		memcpy(m->kinds[n], kind, 16);
		atomic_store_explicit(&m->nkinds, n + 1, memory_order_release);
	}
	jc_mutex_unlock(&jc_caches_lock);
	return i;
}

int jc_misses_add(jc_misses *m, const uint8_t kind[16])
{
	int n = atomic_load_explicit(&m->nkinds, memory_order_acquire), i = find(m, n, kind);
	if (i == n && (i = add_kind(m, kind)) == JC_MISS_KINDS)
		return 0;
	atomic_fetch_add_explicit(&m->counts[i], 1, memory_order_relaxed);
	return 1;
}

int jc_misses_any(jc_misses *m)
{
	int n = atomic_load_explicit(&m->nkinds, memory_order_acquire);
	for (int i = 0; i < n; i++)
		if (atomic_load_explicit(&m->counts[i], memory_order_relaxed) != 0)
			return 1;
	return 0;
}

void jc_misses_report(jc_misses *m, const jc_core *core, void *cache, int32_t why)
{
	int n = atomic_load_explicit(&m->nkinds, memory_order_acquire);
	for (int i = 0; i < n; i++) {
		if (atomic_load_explicit(&m->counts[i], memory_order_relaxed) == 0)
			continue;
		uint64_t count = atomic_exchange_explicit(&m->counts[i], 0, memory_order_relaxed);
		if (count > 0)
			core->missed(cache, m->kinds[i], why, count);
	}
}

void jc_misses_forget(jc_misses *m)
{
	for (int i = 0; i < JC_MISS_KINDS; i++)
		atomic_store_explicit(&m->counts[i], 0, memory_order_relaxed);
}
