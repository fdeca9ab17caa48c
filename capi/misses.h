/* misses.h: lookups of entries that were not there, until the core counts them. */
#ifndef JC_MISSES_H
#define JC_MISSES_H

#include <stdatomic.h>

#include "core.h"

enum { JC_MISS_KINDS = 8 };

typedef struct jc_misses {
	_Atomic int nkinds; /* one is added under jc_caches_lock */
	char kinds[JC_MISS_KINDS][17];
	_Atomic uint64_t counts[JC_MISS_KINDS];
} jc_misses;

/* jc_misses_add counts one, of a kind of up to 16 bytes, padded with NUL. It returns
 * 0 if there are too many kinds. */
int jc_misses_add(jc_misses *m, const uint8_t kind[16]);

/* jc_misses_any says whether there are some. */
int jc_misses_any(jc_misses *m);

/* jc_misses_report hands them to the core. */
void jc_misses_report(jc_misses *m, const jc_core *core, void *cache, int32_t why);

/* jc_misses_forget is for a forked child: the counts are its parent's. */
void jc_misses_forget(jc_misses *m);

#endif
