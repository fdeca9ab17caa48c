#include "watch.h"

#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

#include "control.h"
#include "output.h"
#include "process.h"

enum {
	TICK_MS = 50,
	/* The include phase of a large C++ source is over in 100 ms; what then computes
	 * in parallel loses a quarter of a second at most. */
	PINNED_MS = 250,
	/* A process that was forked just before was not in the list that the first release
	 * went through. */
	RELEASES = 3,
	/* How long what is left of the tree may take to end after the command. */
	GRACE_MS = 200,
};

static cpu_set_t before;
static int pinned, releases, passing, ending;
static int64_t since, ended;

static int64_t now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000) + t.tv_nsec / 1000000;
}

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
	since = now_ms();
}

static void release(pid_t id) { sched_setaffinity(id, sizeof before, &before); }

void jo_watch_unpin(void)
{
	if (!pinned)
		return;
	pinned = 0;
	releases = RELEASES;
	sched_setaffinity(0, sizeof before, &before);
	jo_process_each(release);
}

/* ---- the timer */

static volatile sig_atomic_t due;

static void tick(int signal)
{
	(void)signal;
	due = 1;
}

static void each(int ms)
{
	struct itimerval t = {{0, ms * 1000}, {0, ms * 1000}};
	setitimer(ITIMER_REAL, &t, NULL);
}

void jo_watch_timer(int passes)
{
	struct sigaction a = {.sa_handler = tick}; /* without SA_RESTART */
	passing = passes;
	sigaction(SIGALRM, &a, NULL);
	each(TICK_MS);
}

void jo_watch_end(void)
{
	ending = 1;
	ended = now_ms();
	each(TICK_MS);
}

void jo_watch_tick(void)
{
	if (!due)
		return;
	due = 0;
	if (passing)
		jo_output_pass();
	if (releases > 0 && --releases > 0)
		jo_process_each(release);
	if (pinned && now_ms() - since >= PINNED_MS)
		jo_watch_unpin();
	if (!pinned && releases == 0 && !passing && !ending)
		each(0);
}

int jo_watch_over(void) { return ending && !JO_WITHOUT(GRACE) && now_ms() - ended >= GRACE_MS; }

void jo_watch_stop(void)
{
	ending = 0;
	each(0);
}
