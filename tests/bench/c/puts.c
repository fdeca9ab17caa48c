/* puts.c: storing new entries. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static uint64_t serial;

/* Sizes between the two that differ from put to put, and from run to run not. */
static size_t size_of(uint64_t n, size_t least, size_t most)
{
	return least + (size_t)(n * 0x9e3779b97f4a7c15u >> 32) % (most - least + 1);
}

static jitcache_key **keys_for(size_t n, const char *name)
{
	jitcache_key **keys = calloc(n, sizeof *keys);
	char prefix[32], unique[128];
	snprintf(prefix, sizeof prefix, "put-%ld", (long)getpid());
	for (size_t i = 0; i < n; i++) {
		/* A name each, as programs with many kernels have. */
		snprintf(unique, sizeof unique, "%s %zu", name != NULL ? name : "", (size_t)(serial + i));
		keys[i] = new_key(prefix, serial + i, name != NULL ? unique : NULL);
	}
	return keys;
}

static void finish(jitcache_key **keys, size_t n, uint64_t sum, uint64_t worst)
{
	for (size_t i = 0; i < n; i++)
		jitcache_key_free(keys[i]);
	free(keys);
	printf("%llu %llu\n", (unsigned long long)sum, (unsigned long long)worst);
}

/* put: prints the sum and the longest. */
void run_put(int argc, char **argv)
{
	(void)argc;
	corpus *c = corpus_at(argv[1]);
	size_t n = number(argv[2]), least = number(argv[3]), most = number(argv[4]);
	jitcache_key **keys = keys_for(n, argv[5][0] != '-' ? argv[5] : NULL);
	uint64_t sum = 0, worst = 0;
	for (size_t i = 0; i < n; i++) {
		size_t size = size_of(serial, least, most);
		const unsigned char *data = payload(size, serial++);
		uint64_t begun = begin(argv[0]);
		must(jitcache_put(c->cache, keys[i], data, size, NULL, 0), JITCACHE_OK, "put");
		uint64_t took = end(begun);
		sum += took;
		worst = took > worst ? took : worst;
	}
	finish(keys, n, sum, worst);
}

/* lease: acquire of something missing, and commit at once. */
void run_lease(int argc, char **argv)
{
	(void)argc;
	corpus *c = corpus_at(argv[1]);
	size_t n = number(argv[2]), size = number(argv[3]);
	jitcache_key **keys = keys_for(n, NULL);
	uint64_t sum = 0, worst = 0;
	for (size_t i = 0; i < n; i++) {
		jitcache_blob *blob;
		jitcache_lease *lease;
		const unsigned char *data = payload(size, serial++);
		uint64_t begun = begin(argv[0]);
		must(jitcache_acquire(c->cache, keys[i], -1, &blob, &lease), JITCACHE_LEASE, "acquire");
		must(jitcache_commit(lease, data, size, NULL, NULL), JITCACHE_OK, "commit");
		uint64_t took = end(begun);
		sum += took;
		worst = took > worst ? took : worst;
	}
	finish(keys, n, sum, worst);
}
