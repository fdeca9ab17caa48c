/* Children of a parent whose other threads are in the middle of something: in
 * Go, in a lease, under a lock of the front. None of them exists in the child. */
#define _GNU_SOURCE
#include "forking.h"

#include <pthread.h>
#include <stdint.h>
#include <sys/mman.h>

enum { THREADS = 8 };

static jitcache_cache *cache;
static jitcache_key *known, *leased;
static volatile int stop, inside[THREADS];

static void set_up(const char *memory)
{
	cache = open_cache(memory);
	known = make_key("known");
	leased = make_key("leased");
	stop = 0;
	CHECK(jitcache_put(cache, known, "known", 5, NULL, 0) == JITCACHE_OK);
}

static void tear_down(void)
{
	jitcache_key_free(known);
	jitcache_key_free(leased);
	CHECK(jitcache_close(cache) == JITCACHE_OK);
}

/* uses is what every child does with handles from before the fork; it returns
 * the step at which it failed. */
static int uses(void)
{
	char text[32];
	jitcache_blob *b;
	snprintf(text, sizeof text, "child %ld", (long)getpid());
	jitcache_key *own = make_key(text);
	if (jitcache_get(cache, known, &b) != JITCACHE_OK || !blob_is(b, "known"))
		return 2;
	if (jitcache_put(cache, own, text, strlen(text), NULL, JITCACHE_REPLACE) != JITCACHE_OK)
		return 3;
	if (jitcache_get(cache, own, &b) != JITCACHE_OK || !blob_is(b, text))
		return 4;
	jitcache_key_free(own);
	return 0;
}

static void children_of(void *(*thread)(void *), int (*body)(void *))
{
	pthread_t t[THREADS];
	for (intptr_t i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, thread, (void *)i);
	for (int i = 0; i < forking_children && !check_bad; i++) {
		usleep(2000);
		CHECK(in_child(body, NULL));
	}
	stop = 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
}

/* ---- blocked in Go: a wait for a lease that the main thread holds */

static void *wait_for_lease(void *p)
{
	while (!stop) {
		jitcache_blob *b = NULL;
		jitcache_lease *l = NULL;
		inside[(intptr_t)p] = 1;
		int32_t status = jitcache_acquire(cache, leased, -1, &b, &l);
		inside[(intptr_t)p] = 0;
		CHECK(stop || status == JITCACHE_BUSY);
		jitcache_blob_release(b);
		jitcache_lease_free(l);
	}
	return NULL;
}

static int *were_inside; /* shared with the children, which see what was at the fork */

static int count_and_use(void *p)
{
	(void)p;
	for (int i = 0; i < THREADS; i++)
		__atomic_add_fetch(were_inside, inside[i], __ATOMIC_RELAXED);
	return uses();
}

static void children_of_threads_that_wait_in_go(void)
{
	jitcache_blob *b;
	jitcache_lease *l = NULL;
	set_up("0");
	were_inside = (int *)mmap(NULL, sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(jitcache_acquire(cache, leased, -1, &b, &l) == JITCACHE_LEASE);
	children_of(wait_for_lease, count_and_use);
	/* A wait is 100 ms long, and what is between two of them is not. */
	CHECK(*were_inside > forking_children * THREADS * 9 / 10);
	printf("%d of %d threads were in Go\n", *were_inside, forking_children * THREADS);
	jitcache_lease_free(l);
	tear_down();
}

/* ---- running in Go */

static void *look_up(void *p)
{
	char text[32];
	for (int i = 0; !stop; i++) {
		jitcache_blob *b;
		snprintf(text, sizeof text, "%d-%d", (int)(intptr_t)p, i % 100);
		jitcache_key *k = make_key(text);
		if (jitcache_get(cache, k, &b) == JITCACHE_OK)
			jitcache_blob_release(b);
		else
			jitcache_put(cache, k, text, strlen(text), NULL, 0);
		jitcache_key_free(k);
	}
	return NULL;
}

static int use(void *p)
{
	(void)p;
	return uses();
}

/* jitcache:control JC_NO_COPY */
static void children_of_threads_that_run_in_go(void)
{
	set_up("0");
	children_of(look_up, use);
	tear_down();
}

/* ---- another thread's lease */

static int ask_for_the_leased(void *p)
{
	jitcache_blob *b = NULL;
	jitcache_lease *l = NULL;
	(void)p;
	/* The parent's thread still has it. */
	int32_t status = jitcache_acquire(cache, leased, 0, &b, &l);
	if (status != JITCACHE_TIMEOUT || l == NULL)
		return 5;
	jitcache_lease_free(l);
	return uses();
}

static pthread_mutex_t hold = PTHREAD_MUTEX_INITIALIZER;
static volatile int has_lease;

static void *hold_lease(void *p)
{
	jitcache_blob *b = NULL;
	jitcache_lease *l = NULL;
	(void)p;
	if (jitcache_acquire(cache, leased, -1, &b, &l) != JITCACHE_LEASE)
		return NULL;
	has_lease = 1;
	pthread_mutex_lock(&hold);
	pthread_mutex_unlock(&hold);
	return (void *)(intptr_t)(jitcache_commit(l, "done", 4, NULL, NULL) == JITCACHE_OK);
}

static void lease_of_another_thread_is_not_the_childs(void)
{
	pthread_t t;
	void *committed;
	jitcache_blob *b;
	set_up("0");
	has_lease = 0;
	pthread_mutex_lock(&hold);
	pthread_create(&t, NULL, hold_lease, NULL);
	while (!has_lease)
		usleep(1000);
	for (int i = 0; i < forking_children && !check_bad; i++)
		CHECK(in_child(ask_for_the_leased, NULL));
	pthread_mutex_unlock(&hold);
	pthread_join(t, &committed);
	CHECK(committed != NULL);
	CHECK(jitcache_get(cache, leased, &b) == JITCACHE_OK && blob_is(b, "done"));
	tear_down();
}

/* ---- under the front's locks: handles are made, keys sealed, paths made */

static void log_nothing(void *user, int32_t level, const char *message) { (void)user, (void)level, (void)message; }

static int take_locks(void)
{
	static char source[100000];
	jitcache_blob *b;
	jitcache_key *k = make_key("locks"), *many[100];
	const char *path;
	jitcache_set_log(log_nothing, NULL);
	for (int i = 0; i < 100; i++)
		many[i] = make_key("one of many");
	for (int i = 0; i < 100; i++)
		jitcache_key_free(many[i]);
	jitcache_key_add(k, "large", source, sizeof source);
	int32_t missed = jitcache_get(cache, k, &b);
	jitcache_key_free(k);
	if (missed != JITCACHE_MISS || jitcache_get(cache, known, &b) != JITCACHE_OK)
		return 6;
	int32_t status = jitcache_blob_path(b, &path);
	jitcache_blob_release(b);
	return status == JITCACHE_OK ? 0 : 7;
}

static void *take_locks_again_and_again(void *p)
{
	(void)p;
	while (!stop)
		CHECK(take_locks() == 0);
	return NULL;
}

static int take_locks_and_use(void *p)
{
	(void)p;
	int step = take_locks();
	return step != 0 ? step : uses();
}

/* jitcache:control JC_NO_LOCKS */
static void children_while_locks_of_the_front_are_taken(void)
{
	set_up("1Mi");
	children_of(take_locks_again_and_again, take_locks_and_use);
	tear_down();
}

int main(int argc, char **argv)
{
	forking_arguments(argc, argv);
	RUN(children_of_threads_that_wait_in_go);
	RUN(children_of_threads_that_run_in_go);
	RUN(lease_of_another_thread_is_not_the_childs);
	RUN(children_while_locks_of_the_front_are_taken);
	printf("figure forks_fork_threads %d forks\n", forking_count);
	DONE;
}
