/* check.h: the least that a C test needs. A test is a function; RUN calls it in
 * a cache directory of its own. Programs end with DONE, which prints how many
 * tests ran and failed. */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jitcache.h>

static int check_run, check_failed, check_bad;
static char check_dir[4096];

#define CHECK(cond) \
	do { \
		if (!(cond)) { \
			printf("%s:%d: %s (last error: %s; last miss: %s)\n", __FILE__, __LINE__, #cond, \
				jitcache_last_error(), jitcache_reason_name(jitcache_last_miss())); \
			check_bad = 1; \
		} \
	} while (0)

/* RUN runs a test whose name states what is true. */
#define RUN(test) \
	do { \
		check_bad = 0; \
		snprintf(check_dir, sizeof check_dir, "%s/%s", argc > 1 ? argv[1] : ".", #test); \
		test(); \
		check_run++; \
		check_failed += check_bad; \
		if (check_bad) \
			printf("FAILED %s\n", #test); \
	} while (0)

#define DONE \
	do { \
		printf("%d run, %d failed\n", check_run, check_failed); \
		return check_failed != 0; \
	} while (0)

/* open_cache opens the test's own cache; memory is its memory_size. */
static inline jitcache_cache *open_cache(const char *memory)
{
	jitcache_options *o = NULL;
	jitcache_cache *c = NULL;
	CHECK(jitcache_options_new(&o) == JITCACHE_OK);
	CHECK(jitcache_options_set(o, "directory", check_dir) == JITCACHE_OK);
	CHECK(jitcache_options_set(o, "memory_size", memory) == JITCACHE_OK);
	CHECK(jitcache_open(o, &c) == JITCACHE_OK);
	jitcache_options_free(o);
	return c;
}

/* make_key returns a key that depends on the text. */
static inline jitcache_key *make_key(const char *text)
{
	jitcache_key *k = NULL;
	CHECK(jitcache_key_new(&k) == JITCACHE_OK);
	CHECK(jitcache_key_add(k, "source", text, strlen(text)) == JITCACHE_OK);
	return k;
}

/* blob_is says whether a blob's bytes are the text, and releases it. */
static inline int blob_is(jitcache_blob *b, const char *text)
{
	size_t n = strlen(text);
	int same = jitcache_blob_size(b) == n && jitcache_blob_data(b) != NULL &&
	           memcmp(jitcache_blob_data(b), text, n) == 0;
	jitcache_blob_release(b);
	return same;
}

#endif
