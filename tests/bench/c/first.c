/* first.c: what the library costs a process that loads it: dlopen, and the
 * first call that needs Go. Prints both in nanoseconds. A program of its own,
 * because it must not have the library yet. */
#include <dlfcn.h>
#include <jitcache.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

static uint64_t now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	uint64_t begun = now();
	void *lib = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
	uint64_t loaded = now();
	if (lib == NULL) {
		fprintf(stderr, "first: %s\n", dlerror());
		return 1;
	}
	int32_t (*make)(jitcache_key **) = (int32_t (*)(jitcache_key **))dlsym(lib, "jitcache_key_new");
	int32_t (*hex)(jitcache_key *, char *) = (int32_t (*)(jitcache_key *, char *))dlsym(lib, "jitcache_key_hex");
	jitcache_key *key;
	char digits[65];
	uint64_t calling = now();
	if (make == NULL || hex == NULL || make(&key) != JITCACHE_OK || hex(key, digits) != JITCACHE_OK)
		return 1;
	uint64_t called = now();
	printf("%llu %llu\n", (unsigned long long)(loaded - begun), (unsigned long long)(called - calling));
	return 0;
}
