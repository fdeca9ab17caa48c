/* keys.c: making the key of a source. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sources in turn: few enough to stay in the processor's second cache, where a
 * source is that its program has just made. */
enum { SOURCES = 16 };

void run_keys(int argc, char **argv)
{
	(void)argc;
	static unsigned char *sources[SOURCES];
	static size_t have;
	size_t size = number(argv[1]), n = number(argv[2]);
	for (size_t i = 0; i < SOURCES && have != size; i++) {
		free(sources[i]);
		sources[i] = malloc(size);
		memcpy(sources[i], payload(size, i), size);
	}
	have = size;
	uint64_t begun = begin(argv[0]);
	for (size_t i = 0; i < n; i++) {
		jitcache_key *key;
		char hex[65];
		must(jitcache_key_new(&key), JITCACHE_OK, "key_new");
		must(jitcache_key_add(key, "source", sources[i % SOURCES], size), JITCACHE_OK, "key_add");
		must(jitcache_key_hex(key, hex), JITCACHE_OK, "key_hex");
		jitcache_key_free(key);
	}
	printf("%llu\n", (unsigned long long)end(begun));
}
