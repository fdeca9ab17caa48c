/* wait.c: moves the ends of waits. */
#include "wait.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#include "clock.h"
#include "control.h"
#include "hermetic.h"

/* By number, because older headers lack the names. The numbers are the same on all architectures. */
enum { EPOLL_PWAIT2 = 441, FUTEX_WAITV = 449, FUTEX_WAIT2 = 455 };

/* linux/futex.h: the operations that wait, and the bit that chooses the real-time clock. */
enum {
	WAIT = 0,
	LOCK_PI = 6,
	WAIT_BITSET = 9,
	WAIT_REQUEUE_PI = 11,
	LOCK_PI2 = 13,
	OPERATION = 127,
	BY_REAL_TIME = 256
};

enum { NEVER = 1 }; /* what no call below returns when its time has run out */

/* The calls that may wait for a time, and what they return when it has run out. */
static const struct {
	short number, over;
} waits[] = {
	{SYS_nanosleep, 0},
	{SYS_clock_nanosleep, 0},
	{SYS_ppoll, 0},
	{SYS_pselect6, 0},
	{SYS_epoll_pwait, 0},
	{EPOLL_PWAIT2, 0},
	{SYS_rt_sigtimedwait, -EAGAIN},
	{SYS_futex, -ETIMEDOUT},
	{FUTEX_WAITV, -ETIMEDOUT},
	{FUTEX_WAIT2, -ETIMEDOUT},
	{SYS_timer_settime, NEVER},
	{SYS_timerfd_settime, NEVER},
#ifdef __x86_64__
	{SYS_poll, 0},
	{SYS_select, 0},
	{SYS_epoll_wait, 0},
#endif
};

/* kind_of returns the index of a call in waits, -1 if it has none. */
static int kind_of(long nr)
{
	for (size_t i = 0; i < sizeof waits / sizeof *waits; i++)
		if (waits[i].number == nr)
			return (int)i;
	return -1;
}

int jo_wait_is(long nr) { return kind_of(nr) >= 0; }

static int64_t nanoseconds(struct timespec t) { return t.tv_sec * INT64_C(1000000000) + t.tv_nsec; }

static int64_t now(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return nanoseconds(t);
}

static int64_t waited; /* by all processes, until the time ran out */

/* PATIENCE is more than what tools wait for something to settle, and what a user waits without asking why. */
#define PATIENCE INT64_C(10000000000)

int jo_wait_long(void) { return waited > PATIENCE; }

/* The longest wait that is reckoned with, in seconds: 30 years. */
enum { FAR = 1000000000 };

/* clock_named returns the number behind a name in a file of /proc; after, if it is not NULL, is a line that comes
 * before. -1: it cannot be read. */
static int clock_named(const char *path, const char *after, const char *name)
{
	char line[256];
	int clock = -1, found = after == NULL;
	FILE *f = fopen(path, "re");
	while (f != NULL && fgets(line, sizeof line, f) != NULL) {
		found |= after != NULL && strcmp(line, after) == 0;
		if (found && strncmp(line, name, strlen(name)) == 0) {
			sscanf(line + strlen(name), "%d", &clock);
			break;
		}
	}
	if (f != NULL)
		fclose(f);
	return clock;
}

static int clock_of_descriptor(const jo_process *p, int fd)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/fdinfo/%d", (int)p->id, fd);
	return clock_named(path, NULL, "clockid:");
}

static int clock_of_timer(const jo_process *p, int timer)
{
	char path[64], line[32];
	snprintf(path, sizeof path, "/proc/%d/timers", (int)p->id);
	snprintf(line, sizeof line, "ID: %d\n", timer);
	return clock_named(path, line, "ClockID:");
}

/* is_real_time reports whether a wait is by the real-time clock. A clock that is not known ends the mode. */
static int is_real_time(const jo_process *p, int clock)
{
	enum { BOOT = 7, REAL_ALARM = 8, BOOT_ALARM = 9 };
	if (clock == CLOCK_REALTIME || clock == REAL_ALARM)
		return 1;
	if (clock != CLOCK_MONOTONIC && clock != BOOT && clock != BOOT_ALARM && clock != CLOCK_PROCESS_CPUTIME_ID &&
		clock != CLOCK_THREAD_CPUTIME_ID)
		jo_hermetic_end(p, "it waits by a clock that cannot be shown");
	return 0;
}

/* move moves the time in a struct timespec, or with timer in a struct itimerspec, that an argument of a call points to.
 * The process's own memory stays as it is: other threads may read it. The moved time is put below the stack, where the
 * kernel puts the frames of signals. */
static void move(jo_process *p, const jo_stop *s, int argument, int clock, int timer)
{
	struct timespec t[2]; /* of an itimerspec the interval and the time */
	const int64_t whole = INT64_C(1000000000);
	size_t size = timer ? sizeof t : sizeof *t;
	uint64_t from = s->arguments[argument], to = (s->stack - 128 - 64) & ~UINT64_C(15);
	struct timespec *when = &t[timer];
	if (from == 0 || !jo_process_read(p, from, t, size) || (timer && when->tv_sec == 0 && when->tv_nsec == 0) ||
		!is_real_time(p, clock))
		return;
	int64_t after = when->tv_sec - jo_hermetic_second();
	int64_t until = (after > FAR ? FAR : after < -FAR ? -FAR : after) * whole + when->tv_nsec;
	int64_t left = until - jo_clock_shown(p);
	int64_t moved = now(CLOCK_REALTIME) + (left < 0 ? 0 : left);
	*when = (struct timespec){moved / whole, moved % whole};
	if (JO_WITHOUT(DEADLINES))
		return;
	if (!jo_process_write(p, to, t, size) || !jo_stop_change(p->id, argument, to)) {
		jo_hermetic_end(p, "a wait cannot be moved");
		return;
	}
	p->shown.argument = argument;
	p->shown.was = from;
	if (timer)
		waited += left < 0 ? 0 : left; /* it may be set again and again */
	else
		p->shown.until = until;
}

/* sleeps notes for how long a process sleeps: what it waits for is nothing but a time. */
static void sleeps(jo_process *p, int64_t length)
{
	if (length > 0 && length < FAR * INT64_C(1000000000))
		p->shown.until = jo_clock_shown(p) + length;
}

/* sleeps_for does so for a time in the process's memory: a struct timespec, or with parts 1000 a struct timeval. */
static void sleeps_for(jo_process *p, uint64_t at, int parts)
{
	struct timespec t;
	if (at != 0 && jo_process_read(p, at, &t, sizeof t) && t.tv_sec >= 0 && t.tv_sec < FAR)
		sleeps(p, t.tv_sec * INT64_C(1000000000) + t.tv_nsec * parts);
}

/* sleeps_until does so for a sleep until a time. By the clocks that count from a start, its length is what is left of
 * that, and it is rounded up to what the process has asked for: Python sleeps in this way. */
static void sleeps_until(jo_process *p, const jo_stop *s, int argument, int clock)
{
	const int64_t rounded = 1000000;
	struct timespec t;
	if ((clock == CLOCK_MONOTONIC || clock == CLOCK_BOOTTIME) &&
		jo_process_read(p, s->arguments[argument], &t, sizeof t) && t.tv_sec >= 0 && t.tv_sec < FAR)
		sleeps(p, (nanoseconds(t) - now(clock) + rounded - 1) / rounded * rounded);
	else
		move(p, s, argument, clock, 0);
}

void jo_wait_begins(jo_process *p, const jo_stop *s)
{
	enum { ABSOLUTE = 1 }; /* TIMER_ABSTIME, TFD_TIMER_ABSTIME */
	const uint64_t *args = s->arguments;
	int operation = (int)args[1] & OPERATION;
	p->shown.began = now(CLOCK_MONOTONIC);
	switch (s->number) {
	case SYS_nanosleep: sleeps_for(p, args[0], 1); break;
	case SYS_clock_nanosleep:
		if (args[1] & ABSOLUTE)
			sleeps_until(p, s, 2, (int)args[0]);
		else
			sleeps_for(p, args[2], 1);
		break;
	case SYS_ppoll: sleeps_for(p, args[1] == 0 ? args[2] : 0, 1); break;
	case SYS_pselect6: sleeps_for(p, args[0] == 0 ? args[4] : 0, 1); break;
#ifdef __x86_64__
	case SYS_poll: sleeps(p, args[1] == 0 ? (int)args[2] * INT64_C(1000000) : 0); break;
	case SYS_select: sleeps_for(p, args[0] == 0 ? args[4] : 0, 1000); break;
#endif
	case SYS_futex:
		if (operation == LOCK_PI || (operation != WAIT && (args[1] & BY_REAL_TIME)))
			move(p, s, 3, CLOCK_REALTIME, 0);
		break;
	case FUTEX_WAITV: move(p, s, 3, (int)args[4], 0); break;
	case FUTEX_WAIT2: move(p, s, 4, (int)args[5], 0); break;
	case SYS_timer_settime:
		if (args[1] & ABSOLUTE)
			move(p, s, 2, clock_of_timer(p, (int)args[0]), 1);
		break;
	case SYS_timerfd_settime:
		if (args[1] & ABSOLUTE)
			move(p, s, 2, clock_of_descriptor(p, (int)args[0]), 1);
		break;
	default: break;
	}
}

void jo_wait_ends(jo_process *p, int64_t result)
{
	jo_shown *shown = &p->shown;
	if (shown->argument >= 0)
		jo_stop_change(p->id, shown->argument, shown->was);
	shown->argument = -1;
	if (result != waits[kind_of(shown->call)].over)
		return;
	waited += now(CLOCK_MONOTONIC) - shown->began;
	if (shown->until != 0 && !JO_WITHOUT(SLEEPS))
		jo_clock_set(p, shown->until);
}
