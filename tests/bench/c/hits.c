/* hits.c: lookups, of entries that are there and of some that are not. */
#include "bench.h"

#include <stdio.h>

static void print(uint64_t ns) { printf("%llu\n", (unsigned long long)ns); }

static void get_each(corpus *c, size_t n)
{
	for (size_t i = 0, at = 0; i < n; i++) {
		jitcache_blob *b;
		must(jitcache_get(c->cache, c->keys[at], &b), JITCACHE_OK, "get");
		jitcache_blob_release(b);
		at = at + 1 < c->count ? at + 1 : 0;
	}
}

/* warm: looks every entry up once, untimed. */
void run_warm(int argc, char **argv)
{
	(void)argc;
	corpus *c = corpus_at(argv[1]);
	get_each(c, c->count);
	puts("0");
}

void run_get(int argc, char **argv)
{
	(void)argc;
	corpus *c = corpus_at(argv[1]);
	size_t n = number(argv[2]);
	uint64_t begun = begin(argv[0]);
	get_each(c, n);
	print(end(begun));
}

/* into: the same, into the caller's own buffer. */
void run_into(int argc, char **argv)
{
	(void)argc;
	static unsigned char buffer[2 << 20];
	corpus *c = corpus_at(argv[1]);
	size_t n = number(argv[2]), size;
	uint64_t begun = begin(argv[0]);
	for (size_t i = 0, at = 0; i < n; i++) {
		must(jitcache_get_into(c->cache, c->keys[at], buffer, sizeof buffer, &size), JITCACHE_OK, "get_into");
		at = at + 1 < c->count ? at + 1 : 0;
	}
	print(end(begun));
}

void run_miss(int argc, char **argv)
{
	(void)argc;
	corpus *c = corpus_at(argv[1]);
	size_t n = number(argv[2]);
	uint64_t begun = begin(argv[0]);
	for (size_t i = 0, at = 0; i < n; i++) {
		jitcache_blob *b;
		must(jitcache_get(c->cache, c->absent[at], &b), JITCACHE_MISS, "get of nothing");
		at = at + 1 < c->count ? at + 1 : 0;
	}
	print(end(begun));
}
