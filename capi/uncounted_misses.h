/* uncounted_misses.h: misses that the front has found by itself, until the core counts them. */
#ifndef JC_UNCOUNTED_MISSES_H
#define JC_UNCOUNTED_MISSES_H

#include <stdatomic.h>

#include "core.h"

enum { JC_MISS_KINDS = 8 };

typedef struct jc_misses {
	_Atomic int nkinds; /* one is added under jc_caches_lock */
	char kinds[JC_MISS_KINDS][17];
	_Atomic uint64_t counts[JC_MISS_KINDS];
} jc_misses;

/* jc_misses_add counts a miss of a kind, which is padded with NUL. It returns 0 if
 * there are too many kinds. */
int jc_misses_add(jc_misses *m, const uint8_t kind[16]);

/* jc_misses_any says whether any were counted. */
int jc_misses_any(jc_misses *m);

/* jc_misses_report passes the counts to the core, with the reason why. */
void jc_misses_report(jc_misses *m, const jc_core *core, void *cache, int32_t why);

/* jc_misses_forget drops the counts in a forked child; its parent reports them. */
void jc_misses_forget(jc_misses *m);

#endif
