/* What the host has blocked stays blocked, in its own threads and in Go's: a
 * signal that it waits for reaches nobody else. */
#define _GNU_SOURCE
#include "check.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

/* The four that Go would unblock in every thread, and some that it would not. */
static const int waited[] = {16 /* SIGSTKFLT */, SIGCHLD, SIGPROF, 34 /* SIGRTMIN */, SIGUSR1, SIGTERM, 35};
#define NWAITED (sizeof waited / sizeof waited[0])

enum { TIMES = 20 };

static volatile int strays;

static void stray(int sig)
{
	(void)sig;
	strays++;
}

static void *look_up(void *p)
{
	char text[32];
	for (int i = 0; i < 200; i++) {
		jitcache_blob *b;
		snprintf(text, sizeof text, "%d", i % 50);
		jitcache_key *k = make_key(text);
		if (jitcache_get((jitcache_cache *)p, k, &b) == JITCACHE_OK)
			jitcache_blob_release(b);
		else
			jitcache_put((jitcache_cache *)p, k, text, strlen(text), NULL, 0);
		jitcache_key_free(k);
	}
	return NULL;
}

/* Every thread of the host blocks the signals, so a handler that runs does so in
 * one of Go's. */
/* jitcache:control go_runtime */
static void signal_that_is_waited_for_reaches_its_waiter(void)
{
	sigset_t set, before;
	pthread_t t[4];
	sigemptyset(&set);
	for (size_t i = 0; i < NWAITED; i++) {
		sigaddset(&set, waited[i]);
		signal(waited[i], stray);
	}
	pthread_sigmask(SIG_BLOCK, &set, &before);
	jitcache_cache *c = open_cache("0");
	strays = 0;
	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, look_up, c);
	for (size_t i = 0; i < NWAITED; i++)
		for (int n = 0; n < TIMES && !check_bad; n++) {
			const struct timespec moment = {0, 1000000}, limit = {2, 0};
			siginfo_t info;
			kill(getpid(), waited[i]);
			/* Time for another thread to take it. */
			nanosleep(&moment, NULL);
			if (sigtimedwait(&set, &info, &limit) != waited[i]) {
				printf("signal %d was lost\n", waited[i]);
				check_bad = 1;
			}
		}
	CHECK(strays == 0);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	for (size_t i = 0; i < NWAITED; i++)
		signal(waited[i], SIG_DFL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	jitcache_close(c);
}

struct masks {
	jitcache_cache *c;
	sigset_t before, after;
};

static void *call_with_all_blocked(void *p)
{
	struct masks *m = (struct masks *)p;
	sigset_t all;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	pthread_sigmask(SIG_SETMASK, NULL, &m->before);
	look_up(m->c);
	pthread_sigmask(SIG_SETMASK, NULL, &m->after);
	return NULL;
}

/* jitcache:control JC_NO_ENTER */
static void thread_keeps_its_mask(void)
{
	struct masks m = {0};
	pthread_t t;
	m.c = open_cache("0");
	pthread_create(&t, NULL, call_with_all_blocked, &m);
	pthread_join(t, NULL);
	for (int sig = 1; sig < NSIG; sig++)
		if (sigismember(&m.before, sig) != sigismember(&m.after, sig)) {
			printf("signal %d is unblocked\n", sig);
			check_bad = 1;
		}
	jitcache_close(m.c);
}

int main(int argc, char **argv)
{
	RUN(signal_that_is_waited_for_reaches_its_waiter);
	RUN(thread_keeps_its_mask);
	DONE;
}
