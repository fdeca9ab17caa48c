/* Faults that a sanitizer must see, each in memory that the library has made or
 * was given: FOLDER FAULT. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jitcache.h>

static jitcache_blob *stored(jitcache_cache *c, jitcache_key *k)
{
	jitcache_blob *b;
	if (jitcache_put(c, k, "code", 4, NULL, 0) != JITCACHE_OK || jitcache_get(c, k, &b) != JITCACHE_OK)
		exit(0);
	return b;
}

int main(int argc, char **argv)
{
	jitcache_options *o;
	jitcache_cache *c;
	jitcache_key *k;
	if (argc < 3 || jitcache_options_new(&o) != JITCACHE_OK)
		return 0;
	jitcache_options_set(o, "directory", argv[1]);
	jitcache_options_set(o, "memory_size", "0");
	if (jitcache_open(o, &c) != JITCACHE_OK || jitcache_key_new(&k) != JITCACHE_OK)
		return 0;
	jitcache_options_free(o);
	jitcache_key_add(k, "a", "b", 1);
	if (strcmp(argv[2], "use_after_release") == 0) {
		jitcache_blob *b = stored(c, k);
		const char *data = jitcache_blob_data(b);
		jitcache_blob_release(b);
		printf("%c\n", data[0]);
	} else {
		char *payload = calloc(100, 1);
		jitcache_put(c, k, payload, 101, NULL, 0);
		free(payload);
	}
	jitcache_key_free(k);
	jitcache_close(c);
	return 0;
}
