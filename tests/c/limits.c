/* Limits of the process that cost a result its place, and nobody his process. */
#include "check.h"

#include <sys/resource.h>

static void limit_file_size(rlim_t size)
{
	struct rlimit now;
	getrlimit(RLIMIT_FSIZE, &now);
	now.rlim_cur = size < now.rlim_max ? size : now.rlim_max;
	CHECK(setrlimit(RLIMIT_FSIZE, &now) == 0);
}

/* The kernel answers a write beyond ulimit -f with SIGXFSZ, which ends the
 * process. */
static void put_beyond_the_limit_of_file_size_is_not_stored(void)
{
	static const char large[100000];
	jitcache_cache *c = open_cache("0");
	jitcache_key *known = make_key("known"), *k = make_key("large");
	jitcache_blob *b;
	CHECK(jitcache_put(c, known, "known", 5, NULL, 0) == JITCACHE_OK);
	for (rlim_t size = 50000; size > 0; size /= 10) {
		limit_file_size(size);
		CHECK(jitcache_put(c, k, large, sizeof large, NULL, 0) == JITCACHE_NOT_STORED);
		CHECK(jitcache_last_miss() == JITCACHE_REASON_NO_SPACE);
		CHECK(jitcache_get(c, k, &b) == JITCACHE_MISS);
		CHECK(jitcache_get(c, known, &b) == JITCACHE_OK && is(b, "known"));
		CHECK(jitcache_flush(c) == JITCACHE_OK);
	}
	limit_file_size(RLIM_INFINITY);
	CHECK(jitcache_put(c, k, large, sizeof large, NULL, 0) == JITCACHE_OK);
	jitcache_key_free(known);
	jitcache_key_free(k);
	CHECK(jitcache_close(c) == JITCACHE_OK);
}

int main(int argc, char **argv)
{
	RUN(put_beyond_the_limit_of_file_size_is_not_stored);
	DONE;
}
