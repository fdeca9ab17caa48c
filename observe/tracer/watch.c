/* watch.c: binds the tree to one CPU, releases it, and counts the timer's ticks. */
#include "watch.h"

#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "control.h"
#include "keeper.h"
#include "output.h"

enum {
	TICK_MS = 50,
	/* The include phase of a large C++ source is over in 100 ms. A program that then computes
	 * in parallel loses a quarter of a second at most. */
	PINNED_MS = 250,
	/* How long a rest of the tree that sleeps, as a daemon does, may live on after the command. */
	GRACE_MS = 200,
};

static cpu_set_t before, one;
static int pinned, unpinned, passing, ending, waiting, ticking;
static int64_t since, ended, most;

static int64_t now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000) + t.tv_nsec / 1000000;
}

void jo_watch_pin(pid_t command)
{
	int cpu = sched_getcpu();
	if (cpu < 0 || sched_getaffinity(0, sizeof before, &before) != 0)
		return;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	pinned = sched_setaffinity(0, sizeof one, &one) == 0;
	sched_setaffinity(command, sizeof one, &one);
	since = now_ms();
}

/* release gives a process its CPUs back, if it still has just the one of the pin: somebody else
 * may have given it others. */
static void release(pid_t id)
{
	cpu_set_t now;
	const jo_process *p = jo_process_of(id, 0);
	if (p != NULL && p->placed && !JO_WITHOUT(PLACES))
		return;
	if (JO_WITHOUT(PLACES) || (sched_getaffinity(id, sizeof now, &now) == 0 && CPU_EQUAL(&now, &one)))
		sched_setaffinity(id, sizeof before, &before);
}

void jo_watch_unpin(void)
{
	if (!pinned)
		return;
	pinned = 0;
	unpinned = 1;
	release(getpid()); /* the thread that was pinned; the caller may be the other thread */
	jo_process_each(release);
}

void jo_watch_born(pid_t id)
{
	if (unpinned)
		release(id);
}

void jo_watch_asked(jo_process *p, pid_t whom)
{
	jo_process *other = whom == 0 ? p : jo_process_of(whom, 0);
	jo_watch_unpin();
	if (other != NULL)
		other->placed = 1;
}

/* ---- the timer */

static volatile sig_atomic_t due;

/* A process that waits for the tracer's answer sleeps like a daemon, and so does a shell whose
 * programs take turns with it. So what the tree does since the last tick, or did in the tick
 * before, is work: a daemon that wakes ten times a second is asleep in between. */
static atomic_int saw;
static int busy;

void jo_watch_saw(void) { atomic_store_explicit(&saw, 1, memory_order_relaxed); }

static void tick(int signal)
{
	(void)signal;
	due = 1;
}

static void each(int ms)
{
	struct itimerval t = {{0, ms * 1000}, {0, ms * 1000}};
	setitimer(ITIMER_REAL, &t, NULL);
	ticking = ms != 0;
}

/* rest stops the timer if there is no use for it. When the keeper has gone, it interrupts the
 * wait for a command that may end by itself. */
static void rest(void)
{
	if (!pinned && !passing && !ending && !waiting && !jo_keeper_gone())
		each(0);
}

void jo_watch_timer(int passes)
{
	struct sigaction a = {.sa_handler = tick}; /* without SA_RESTART */
	passing = passes;
	sigaction(SIGALRM, &a, NULL);
	each(TICK_MS);
}

void jo_watch_end(uint32_t working_ms)
{
	ending = 1;
	ended = now_ms();
	most = working_ms;
	each(TICK_MS);
}

void jo_watch_wait(void)
{
	waiting = 1;
	if (!ticking)
		each(TICK_MS);
}

int jo_watch_tick(void)
{
	if (!due)
		return 0;
	due = waiting = 0;
	busy = atomic_exchange_explicit(&saw, 0, memory_order_relaxed);
	if (passing)
		jo_output_tick();
	if (pinned && now_ms() - since >= PINNED_MS)
		jo_watch_unpin();
	rest();
	return 1;
}

static int working;

static void look(pid_t id)
{
	char state = jo_process_status(jo_process_of(id, 0)).state;
	working |= state != 0 && state != 'S';
}

int jo_watch_over(int (*asks)(void))
{
	int64_t passed = now_ms() - ended;
	if (!ending || passed < GRACE_MS || JO_WITHOUT(GRACE))
		return 0;
	if (passed >= most || JO_WITHOUT(WORKING))
		return 1;
	working = busy || atomic_load_explicit(&saw, memory_order_relaxed) || asks();
	if (!working)
		jo_process_each(look);
	return !working;
}

void jo_watch_stop(void)
{
	ending = passing = 0;
	rest();
}
