/* leases.c: the right to compile, taken and given back, and how soon those who
 * wait for it go on. */
#define _GNU_SOURCE
#include "bench.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

/* lease_pair: acquire of something missing, and the lease given up. */
void run_lease_pair(int argc, char **argv)
{
	(void)argc;
	corpus *c = corpus_at(argv[1]);
	size_t n = number(argv[2]);
	jitcache_key *key = new_key("lease-pair", (uint64_t)getpid(), NULL);
	uint64_t sum = 0;
	for (size_t i = 0; i < n; i++) {
		jitcache_blob *blob;
		jitcache_lease *lease;
		uint64_t begun = begin(argv[0]);
		must(jitcache_acquire(c->cache, key, -1, &blob, &lease), JITCACHE_LEASE, "acquire");
		jitcache_lease_free(lease);
		sum += end(begun);
	}
	jitcache_key_free(key);
	printf("%llu\n", (unsigned long long)sum);
}

/* flock_pair: the least that a lock file costs. */
void run_flock_pair(int argc, char **argv)
{
	(void)argc;
	size_t n = number(argv[2]);
	char path[1100];
	snprintf(path, sizeof path, "%s/%ld.lock", argv[1], (long)getpid());
	uint64_t sum = 0;
	for (size_t i = 0; i < n; i++) {
		uint64_t begun = begin(argv[0]);
		int fd = open(path, O_CREAT | O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) != 0 || unlink(path) != 0 || close(fd) != 0)
			die("%s: cannot be locked", path);
		sum += end(begun);
	}
	printf("%llu\n", (unsigned long long)sum);
}

/* A key of a number that several processes agree on. */
static jitcache_key *wake_key(const char *n) { return new_key("wake", number(n), NULL); }

static jitcache_lease *held;

/* hold: take the lease on a key, to be committed later. */
void run_hold(int argc, char **argv)
{
	(void)argc;
	jitcache_blob *blob;
	jitcache_key *key = wake_key(argv[2]);
	must(jitcache_acquire(corpus_at(argv[1])->cache, key, -1, &blob, &held), JITCACHE_LEASE, "acquire");
	jitcache_key_free(key);
	printf("0\n");
}

/* commit_held: commit it after so many milliseconds, and print when. */
void run_commit_held(int argc, char **argv)
{
	(void)argc;
	usleep((useconds_t)(1000 * number(argv[1])));
	uint64_t at = now();
	must(jitcache_commit(held, payload(4096, at), 4096, NULL, NULL), JITCACHE_OK, "commit");
	printf("%llu\n", (unsigned long long)at);
}

typedef struct waiter {
	jitcache_cache *cache;
	jitcache_key *key;
	uint64_t since, until;
} waiter;

static void *wait_for(void *p)
{
	waiter *w = p;
	jitcache_blob *blob;
	jitcache_lease *lease;
	int32_t status;
	w->since = now();
	while ((status = jitcache_acquire(w->cache, w->key, -1, &blob, &lease)) == JITCACHE_BUSY) {
	}
	w->until = now();
	must(status, JITCACHE_OK, "wait");
	jitcache_blob_release(blob);
	return NULL;
}

/* wait: wait for a key that another process holds; print when it began and ended. */
void run_wait(int argc, char **argv)
{
	(void)argc;
	waiter w = {corpus_at(argv[1])->cache, wake_key(argv[2]), 0, 0};
	wait_for(&w);
	jitcache_key_free(w.key);
	printf("%llu %llu\n", (unsigned long long)w.since, (unsigned long long)w.until);
}

/* wake: a thread of this process waits, the main one commits; print how long
 * after the beginning of the commit the waiter had the entry. */
void run_wake(int argc, char **argv)
{
	(void)argc;
	static uint64_t serial;
	corpus *c = corpus_at(argv[1]);
	size_t n = number(argv[2]);
	uint64_t sum = 0;
	for (size_t i = 0; i < n; i++) {
		waiter w = {c->cache, new_key("wake-thread", serial++, NULL), 0, 0};
		jitcache_blob *blob;
		pthread_t t;
		must(jitcache_acquire(c->cache, w.key, -1, &blob, &held), JITCACHE_LEASE, "acquire");
		if (pthread_create(&t, NULL, wait_for, &w) != 0)
			die("no thread");
		usleep(20000);
		uint64_t at = now();
		must(jitcache_commit(held, payload(4096, at), 4096, NULL, NULL), JITCACHE_OK, "commit");
		pthread_join(t, NULL);
		if (w.since > at)
			die("the waiter came too late to wait");
		sum += w.until - at;
		jitcache_key_free(w.key);
	}
	printf("%llu\n", (unsigned long long)sum);
}
