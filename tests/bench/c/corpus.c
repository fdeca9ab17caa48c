/* corpus.c: open caches, and the entries that others look up. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLACES = 8, MAX_PAYLOAD = 2 << 20 };

static corpus places[PLACES];

corpus *corpus_at(const char *place)
{
	uint64_t i = number(place);
	if (i >= PLACES)
		die("place %s: want 0 to %d", place, PLACES - 1);
	return &places[i];
}

const unsigned char *payload(size_t size, uint64_t n)
{
	static unsigned char *bytes;
	if (size > MAX_PAYLOAD)
		die("payload of %zu bytes: want at most %d", size, MAX_PAYLOAD);
	if (bytes == NULL) {
		bytes = malloc(MAX_PAYLOAD);
		uint64_t x = 88172645463325252u;
		for (size_t i = 0; i < MAX_PAYLOAD; i += sizeof x) {
			x ^= x << 13, x ^= x >> 7, x ^= x << 17;
			memcpy(bytes + i, &x, sizeof x);
		}
	}
	memcpy(bytes, &n, sizeof n);
	return bytes;
}

jitcache_key *new_key(const char *prefix, uint64_t n, const char *name)
{
	jitcache_key *key;
	char text[128], hex[65];
	int len = snprintf(text, sizeof text, "%s %llu", prefix, (unsigned long long)n);
	must(jitcache_key_new(&key), JITCACHE_OK, "key_new");
	must(jitcache_key_add(key, "entry", text, (size_t)len), JITCACHE_OK, "key_add");
	if (name != NULL)
		must(jitcache_key_set_name(key, name), JITCACHE_OK, "key_set_name");
	/* Hashed now: no row but the one about keys is to measure it. */
	must(jitcache_key_hex(key, hex), JITCACHE_OK, "key_hex");
	return key;
}

static void set(jitcache_options *o, const char *name, const char *value)
{
	must(jitcache_options_set(o, name, value), JITCACHE_OK, name);
}

static jitcache_cache *open_cache(const char *directory, const char *memory, const char *max_size)
{
	jitcache_options *o;
	jitcache_cache *cache;
	must(jitcache_options_new(&o), JITCACHE_OK, "options_new");
	set(o, "directory", directory);
	set(o, "memory_size", memory);
	if (max_size[0] != '-')
		set(o, "max_size", max_size);
	must(jitcache_open(o, &cache), JITCACHE_OK, "open");
	jitcache_options_free(o);
	return cache;
}

void run_open(int argc, char **argv)
{
	(void)argc;
	corpus *c = corpus_at(argv[1]);
	if (c->cache != NULL)
		die("place %s: taken", argv[1]);
	c->cache = open_cache(argv[2], argv[3], argv[4]);
	snprintf(c->directory, sizeof c->directory, "%s", argv[2]);
	puts("0");
}

static char *path_of(const corpus *c, jitcache_key *key)
{
	char hex[65], *path = malloc(strlen(c->directory) + 96);
	must(jitcache_key_hex(key, hex), JITCACHE_OK, "key_hex");
	sprintf(path, "%s/v1/entries/%.2s/%s.jce", c->directory, hex, hex + 2);
	return path;
}

/* corpus: makes the keys, and stores what is not there yet. */
void run_corpus(int argc, char **argv)
{
	(void)argc;
	corpus *c = corpus_at(argv[1]);
	size_t n = number(argv[3]), size = number(argv[4]);
	char absent[64];
	snprintf(absent, sizeof absent, "%s-absent", argv[2]);
	c->count = n;
	c->keys = calloc(n, sizeof *c->keys);
	c->paths = calloc(n, sizeof *c->paths);
	c->absent = calloc(n, sizeof *c->absent);
	c->absent_paths = calloc(n, sizeof *c->absent_paths);
	for (size_t i = 0; i < n; i++) {
		c->keys[i] = new_key(argv[2], i, NULL);
		c->paths[i] = path_of(c, c->keys[i]);
		c->absent[i] = new_key(absent, i, NULL);
		c->absent_paths[i] = path_of(c, c->absent[i]);
		must(jitcache_put(c->cache, c->keys[i], payload(size, i), size, NULL, 0), JITCACHE_OK, "put");
	}
	puts("0");
}

/* stats: writes the counters and prints them, with those of other processes. */
void run_stats(int argc, char **argv)
{
	(void)argc;
	jitcache_blob *json;
	corpus *c = corpus_at(argv[1]);
	must(jitcache_flush(c->cache), JITCACHE_OK, "flush");
	must(jitcache_stats(c->cache, &json), JITCACHE_OK, "stats");
	puts(jitcache_blob_data(json));
	jitcache_blob_release(json);
}

void run_close(int argc, char **argv)
{
	(void)argc;
	corpus *c = corpus_at(argv[1]);
	for (size_t i = 0; i < c->count; i++) {
		jitcache_key_free(c->keys[i]);
		jitcache_key_free(c->absent[i]);
		free(c->paths[i]);
		free(c->absent_paths[i]);
	}
	free(c->keys), free(c->absent), free(c->paths), free(c->absent_paths);
	must(jitcache_close(c->cache), JITCACHE_OK, "close");
	*c = (corpus){0};
	puts("0");
}
