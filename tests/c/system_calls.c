/* Ten disk hits and ten misses between marks, for strace to count. */
#include "check.h"

#include <unistd.h>

static void mark(const char *text)
{
	if (write(2, text, strlen(text)) < 0)
		abort();
}

int main(int argc, char **argv)
{
	jitcache_key *keys[100], *missing;
	snprintf(check_dir, sizeof check_dir, "%s/calls", argc > 1 ? argv[1] : ".");
	/* As many entries as it takes for hits to leave the time stamps alone. */
	jitcache_cache *c = open_cache("0");
	for (int i = 0; i < 100; i++) {
		char text[16];
		snprintf(text, sizeof text, "%d", i);
		keys[i] = make_key(text);
		CHECK(jitcache_put(c, keys[i], "0123456789", 10, NULL, 0) == JITCACHE_OK);
	}
	missing = make_key("missing");
	CHECK(jitcache_close(c) == JITCACHE_OK);
	c = open_cache("0");
	jitcache_blob *b;
	CHECK(jitcache_get(c, missing, &b) == JITCACHE_MISS);
	CHECK(jitcache_get(c, keys[99], &b) == JITCACHE_OK);
	jitcache_blob_release(b);
	mark("begin hit\n");
	for (int i = 0; i < 10; i++) {
		if (jitcache_get(c, keys[i], &b) == JITCACHE_OK)
			jitcache_blob_release(b);
	}
	mark("end hit\n");
	mark("begin miss\n");
	for (int i = 0; i < 10; i++)
		jitcache_get(c, missing, &b);
	mark("end miss\n");
	jitcache_close(c);
	check_failed = check_bad;
	printf("%d run, %d failed\n", ++check_run, check_failed);
	return check_failed;
}
