/* fresh.c: a program whose first act is to look something up. Writes "1" once
 * it has it. */
#include <jitcache.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	jitcache_options *o;
	jitcache_cache *cache;
	jitcache_key *key;
	jitcache_blob *blob;
	if (argc != 3)
		return 2;
	if (jitcache_options_new(&o) != JITCACHE_OK || jitcache_options_set(o, "directory", argv[1]) != JITCACHE_OK ||
		jitcache_open(o, &cache) != JITCACHE_OK || jitcache_key_new(&key) != JITCACHE_OK ||
		jitcache_key_add(key, "entry", argv[2], strlen(argv[2])) != JITCACHE_OK ||
		jitcache_get(cache, key, &blob) != JITCACHE_OK)
		return 1;
	return write(1, "1", 1) == 1 ? 0 : 1;
}
