/* opens.c: opening a cache that is there. */
#include "bench.h"

#include <stdio.h>

void run_opens(int argc, char **argv)
{
	(void)argc;
	size_t n = number(argv[2]);
	uint64_t sum = 0;
	for (size_t i = 0; i < n; i++) {
		jitcache_options *o;
		jitcache_cache *cache;
		must(jitcache_options_new(&o), JITCACHE_OK, "options_new");
		must(jitcache_options_set(o, "directory", argv[1]), JITCACHE_OK, "directory");
		uint64_t begun = begin(argv[0]);
		must(jitcache_open(o, &cache), JITCACHE_OK, "open");
		sum += end(begun);
		jitcache_options_free(o);
		must(jitcache_close(cache), JITCACHE_OK, "close");
	}
	printf("%llu\n", (unsigned long long)sum);
}
