/* A forked child that exits while one of its threads forks. What it does at exit
 * takes locks of the front, opens caches again and calls into Go; a fork takes all
 * those locks. */
#define _GNU_SOURCE
#include "forking.h"

#include <pthread.h>

enum { CACHES = 16, WANTED = 7 };

static jitcache_cache *caches[CACHES];
static jitcache_key *known;

static void *fork_again_and_again(void *p)
{
	(void)p;
	for (;;) {
		pid_t pid = fork();
		if (pid == 0)
			_exit(0);
		waitpid(pid, NULL, 0);
	}
	return NULL;
}

/* use_all gives each cache a hit in memory to count, and the process a core. */
static int use_all(void)
{
	jitcache_blob *b;
	jitcache_key *absent = make_key("absent");
	if (jitcache_get(caches[0], absent, &b) != JITCACHE_MISS)
		return 2;
	jitcache_key_free(absent);
	for (int i = 0; i < CACHES; i++)
		if (jitcache_get(caches[i], known, &b) != JITCACHE_OK || !blob_is(b, "known"))
			return 3;
	return 0;
}

static int exits(int beside_fork)
{
	pthread_t t;
	fflush(stdout);
	forking_count++;
	pid_t pid = fork();
	if (pid == 0) {
		int step = use_all();
		if (step != 0)
			_exit(step);
		if (beside_fork)
			pthread_create(&t, NULL, fork_again_and_again, NULL);
		usleep(2000);
		exit(WANTED);
	}
	int status = wait_for(pid);
	if (status == -1)
		printf("child %d hangs\n", forking_count);
	return WIFEXITED(status) && WEXITSTATUS(status) == WANTED;
}

static void open_all(void)
{
	char folder[sizeof check_dir];
	snprintf(folder, sizeof folder, "%s", check_dir);
	known = make_key("known");
	for (int i = 0; i < CACHES; i++) {
		snprintf(check_dir, sizeof check_dir, "%.4000s-%d", folder, i);
		caches[i] = open_cache("1Mi");
		CHECK(jitcache_put(caches[i], known, "known", 5, NULL, 0) == JITCACHE_OK);
	}
}

/* hits_in_memory returns what the ledger of a cache has counted of hits in memory. */
static long hits_in_memory(int i)
{
	jitcache_blob *json;
	CHECK(jitcache_stats(caches[i], &json) == JITCACHE_OK);
	const char *total = strstr((const char *)jitcache_blob_data(json), "\"total\"");
	const char *hits = total != NULL ? strstr(total, "\"hits_memory\":") : NULL;
	long n = hits != NULL ? atol(hits + strlen("\"hits_memory\":")) : -1;
	jitcache_blob_release(json);
	return n;
}

static void close_all(void)
{
	for (int i = 0; i < CACHES; i++)
		CHECK(jitcache_close(caches[i]) == JITCACHE_OK);
	jitcache_key_free(known);
}

/* jitcache:control JC_OLD_ORDER */
static void child_that_exits_beside_fork_ends(void)
{
	open_all();
	for (int i = 0; i < forking_children && !check_bad; i++)
		CHECK(exits(1));
	close_all();
}

/* The counters of a child reach the ledger at its exit. */
/* jitcache:control JC_OLD_ORDER+ranks */
static void child_that_exits_has_counted(void)
{
	open_all();
	for (int i = 0; i < 3; i++)
		CHECK(exits(0));
	for (int i = 0; i < CACHES; i++)
		CHECK(hits_in_memory(i) == 3);
	close_all();
}

int main(int argc, char **argv)
{
	forking_arguments(argc, argv);
	RUN(child_that_exits_has_counted);
	RUN(child_that_exits_beside_fork_ends);
	printf("figure forks_fork_exits %d forks\n", forking_count);
	DONE;
}
