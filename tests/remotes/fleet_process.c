/* A process of a fleet: it wants all keys, in an order of its own.
 *
 *	fleet_process KEYS MILLISECONDS SEED
 *
 * It begins when standard input ends. Standard output is a file that all processes append lines to: "ready"
 * when the helper runs, "compiled KEY AT" at the end of each compile, which takes so many milliseconds, and
 * "done AT WAITED" with the time of the last result and the longest wait for what another process compiled,
 * in nanoseconds. */
#define _GNU_SOURCE
#include <jitcache.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SIZE = 4000 };

static struct {
	int key, compiled;
	long milliseconds;
} current;

static long long now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (long long)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void say(const char *text)
{
	size_t size = strlen(text);
	if (write(1, text, size) != (ssize_t)size)
		exit(3);
}

static int32_t compile(void *user, jitcache_lease *lease)
{
	(void)user;
	char line[80], code[SIZE];
	struct timespec t = {current.milliseconds / 1000, current.milliseconds % 1000 * 1000000};
	while (nanosleep(&t, &t) != 0)
		;
	snprintf(line, sizeof line, "compiled %d %lld\n", current.key, now());
	say(line);
	current.compiled = 1;
	memset(code, 'a' + current.key % 26, sizeof code);
	return jitcache_commit(lease, code, sizeof code, NULL, NULL);
}

static jitcache_key *key_of(int n)
{
	char name[40];
	jitcache_key *key;
	snprintf(name, sizeof name, "k%d", n);
	if (jitcache_key_new(&key) != JITCACHE_OK || jitcache_key_add(key, "source", name, strlen(name)) != JITCACHE_OK)
		exit(3);
	return key;
}

static void wait_for_helper(jitcache_cache *cache)
{
	jitcache_key *key = key_of(-1);
	jitcache_blob *blob;
	while (jitcache_get(cache, key, &blob) == JITCACHE_MISS && jitcache_last_miss() != JITCACHE_REASON_ABSENT)
		usleep(100000);
	jitcache_key_free(key);
}

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	int count = atoi(argv[1]), *order = calloc((size_t)count, sizeof *order);
	long long waited = 0;
	char line[80], byte;
	jitcache_cache *cache;
	current.milliseconds = atol(argv[2]);
	srand((unsigned)atoi(argv[3]));
	for (int i = 0; i < count; i++) { /* shuffled */
		int j = rand() % (i + 1);
		order[i] = order[j];
		order[j] = i;
	}
	if (jitcache_open(NULL, &cache) != JITCACHE_OK)
		return 3;
	wait_for_helper(cache);
	say("ready\n");
	while (read(0, &byte, 1) > 0)
		;
	for (int i = 0; i < count; i++) {
		jitcache_key *key = key_of(order[i]);
		jitcache_blob *blob = NULL;
		long long began = now();
		current.key = order[i], current.compiled = 0;
		if (jitcache_get_or_compile(cache, key, -1, compile, NULL, &blob) != JITCACHE_OK ||
			jitcache_blob_size(blob) != SIZE)
			return 4;
		if (!current.compiled && now() - began > waited)
			waited = now() - began;
		jitcache_blob_release(blob);
		jitcache_key_free(key);
	}
	snprintf(line, sizeof line, "done %lld %lld\n", now(), waited);
	say(line);
	free(order);
	return jitcache_close(cache) == JITCACHE_OK ? 0 : 5;
}
