/* A host's handlers, installed without SA_ONSTACK and with large frames, while
 * its threads look up. A handler runs on the stack that the thread is on, and in
 * Go that is a goroutine's. argv[2] is for how many seconds. */
#define _GNU_SOURCE
#include "check.h"

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 4, FRAME = 64 << 10 };

static double seconds = 3;
static volatile int stop;
static volatile long handled, in_go, lookups;

struct stack {
	char *low, *high;
};
static pthread_key_t own;

static void remember_stack(void)
{
	struct stack *s = (struct stack *)malloc(sizeof *s);
	pthread_attr_t attr;
	void *low;
	size_t size;
	pthread_getattr_np(pthread_self(), &attr);
	pthread_attr_getstack(&attr, &low, &size);
	pthread_attr_destroy(&attr);
	s->low = (char *)low;
	s->high = (char *)low + size;
	pthread_setspecific(own, s);
}

static void handler(int sig)
{
	volatile char frame[FRAME];
	const struct stack *s = (const struct stack *)pthread_getspecific(own);
	for (size_t i = 0; i < sizeof frame; i++)
		frame[i] = (char)sig;
	__atomic_add_fetch(&handled, 1, __ATOMIC_RELAXED);
	if (s != NULL && ((uintptr_t)frame < (uintptr_t)s->low || (uintptr_t)frame >= (uintptr_t)s->high))
		__atomic_add_fetch(&in_go, 1, __ATOMIC_RELAXED);
}

static double since(const struct timespec *start)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - start->tv_sec) + (double)(now.tv_nsec - start->tv_nsec) / 1e9;
}

static void *look_up(void *p)
{
	jitcache_cache *c = (jitcache_cache *)p;
	char text[32];
	remember_stack();
	for (int i = 0; !stop && !check_bad; i++) {
		jitcache_blob *b;
		snprintf(text, sizeof text, "%d", i % 50);
		jitcache_key *k = make_key(text);
		int32_t status = jitcache_get(c, k, &b);
		if (status == JITCACHE_OK)
			CHECK(blob_is(b, text));
		else
			CHECK(jitcache_put(c, k, text, strlen(text), NULL, 0) == JITCACHE_OK);
		jitcache_key_free(k);
		__atomic_add_fetch(&lookups, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

/* storm sends signals for a while to threads that look up. */
static void storm(jitcache_cache *c, double duration)
{
	pthread_t t[THREADS];
	struct timespec start;
	stop = 0;
	for (int i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, look_up, c);
	clock_gettime(CLOCK_MONOTONIC, &start);
	do {
		for (int i = 0; i < THREADS; i++)
			pthread_kill(t[i], SIGUSR1);
		usleep(50);
	} while (since(&start) < duration);
	stop = 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
}

static void with_signals(int rounds, int flags)
{
	jitcache_cache *c = open_cache("0");
	const struct itimerval on = {{0, 500}, {0, 500}}, off = {{0, 0}, {0, 0}};
	struct sigaction sa;
	memset(&sa, 0, sizeof sa);
	sa.sa_handler = handler;
	sa.sa_flags = SA_RESTART | flags;
	sigaction(SIGUSR1, &sa, NULL);
	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &on, NULL);
	handled = in_go = lookups = 0;
	for (int i = 0; i < rounds; i++)
		storm(c, seconds / rounds);
	setitimer(ITIMER_REAL, &off, NULL);
	printf("%ld lookups; %ld signals, %ld of them in Go\n", lookups, handled, in_go);
	CHECK(handled > 200 && in_go > 10 && lookups > 200);
	jitcache_close(c);
}

/* jitcache:control JC_NO_ENTER */
static void handlers_with_large_frames_do_no_harm(void) { with_signals(1, 0); }

/* Each thread meets the library for the first time in the middle of the storm. */
static void handlers_do_no_harm_to_threads_that_come_and_go(void) { with_signals(40, 0); }

/* These run on the stack for signals of their thread. The threads here have made
 * none: what there is came with the library, and is not Go's own, of 32 KiB. */
/* jitcache:control JC_NO_STACK */
static void handlers_with_a_stack_of_their_own_do_no_harm(void) { with_signals(40, SA_ONSTACK); }

static void *stack_for_signals(void *p)
{
	stack_t now;
	jitcache_flush((jitcache_cache *)p);
	sigaltstack(NULL, &now);
	CHECK((now.ss_flags & SS_DISABLE) == 0 && now.ss_size >= 3 * FRAME);
	return now.ss_sp;
}

/* The place of one that was given back is used again. */
/* jitcache:control JC_KEEP_STACK */
static void stacks_for_signals_go_with_their_threads(void)
{
	enum { ROUNDS = 50 };
	jitcache_cache *c = open_cache("0");
	void *seen[ROUNDS];
	int different = 0;
	for (int i = 0; i < ROUNDS; i++) {
		pthread_t t;
		int j = 0;
		pthread_create(&t, NULL, stack_for_signals, c);
		pthread_join(t, &seen[i]);
		while (seen[j] != seen[i])
			j++;
		different += j == i;
	}
	CHECK(different < ROUNDS / 2);
	jitcache_close(c);
}

int main(int argc, char **argv)
{
	if (argc > 2 && atof(argv[2]) > 0)
		seconds = atof(argv[2]);
	pthread_key_create(&own, free);
	RUN(handlers_with_large_frames_do_no_harm);
	RUN(handlers_do_no_harm_to_threads_that_come_and_go);
	RUN(stacks_for_signals_go_with_their_threads);
	RUN(handlers_with_a_stack_of_their_own_do_no_harm);
	DONE;
}
