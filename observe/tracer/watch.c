#include "watch.h"

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "output.h"
#include "process.h"

/* The include phase of a large C++ source is over in 100 ms; what then computes
 * in parallel loses a quarter of a second at most. */
enum { PINNED_MS = 250, TICK_MS = 50 };

static cpu_set_t before;
static int pinned, passing;
static struct timespec since;

void jo_watch_pin(pid_t command)
{
	cpu_set_t one;
	int cpu = sched_getcpu();
	if (cpu < 0 || sched_getaffinity(0, sizeof before, &before) != 0)
		return;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	pinned = sched_setaffinity(0, sizeof one, &one) == 0;
	sched_setaffinity(command, sizeof one, &one);
	clock_gettime(CLOCK_MONOTONIC, &since);
}

static void release(pid_t id) { sched_setaffinity(id, sizeof before, &before); }

void jo_watch_unpin(void)
{
	if (!pinned)
		return;
	pinned = 0;
	sched_setaffinity(0, sizeof before, &before);
	jo_process_each(release);
}

int jo_watch_thread(pthread_t *thread, void *(*f)(void *))
{
	sigset_t all, old;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	int ok = pthread_create(thread, NULL, f, NULL) == 0;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return ok;
}

static struct pollfd watched[2];

static void *watch(void *unused)
{
	(void)unused;
	for (;;) {
		if (poll(watched, 2, -1) > 0 && (watched[0].revents | watched[1].revents) != 0)
			_exit(125); /* and PTRACE_O_EXITKILL ends the tree */
	}
	return NULL;
}

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

void jo_watch_host(pid_t host, int done)
{
	pthread_t thread;
	watched[0].fd = host > 0 ? (int)syscall(SYS_pidfd_open, host, 0) : -1;
	watched[0].events = POLLIN;
	watched[1].fd = done; /* POLLERR needs no asking for: nobody reads */
	jo_watch_thread(&thread, watch);
}

static void interrupt(int signal) { (void)signal; }

void jo_watch_timer(int passes)
{
	struct sigaction a = {.sa_handler = interrupt}; /* without SA_RESTART */
	struct itimerval each = {{0, TICK_MS * 1000}, {0, TICK_MS * 1000}};
	passing = passes;
	sigaction(SIGALRM, &a, NULL);
	setitimer(ITIMER_REAL, &each, NULL);
}

void jo_watch_tick(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	int64_t ms = (now.tv_sec - since.tv_sec) * INT64_C(1000) + (now.tv_nsec - since.tv_nsec) / 1000000;
	if (passing)
		jo_output_pass();
	if (pinned && ms >= PINNED_MS)
		jo_watch_unpin();
	if (!pinned && !passing) {
		struct itimerval never = {{0, 0}, {0, 0}};
		setitimer(ITIMER_REAL, &never, NULL);
	}
}
