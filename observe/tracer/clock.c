/* clock.c: answers readings of the real-time clock. */
#include "clock.h"

#include <errno.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>

#include "control.h"
#include "hermetic.h"

/* How far the clock goes on with each reading: programs that make names or seeds of the time want another one. */
enum { STEP = 1000 };

int64_t jo_clock_shown(const jo_process *p) { return p->group->clock + p->slept; }

void jo_clock_set(jo_process *p, int64_t shown)
{
	if (shown > jo_clock_shown(p))
		p->slept = shown - p->group->clock;
}

/* read_clock returns what a process reads, and moves the clock on for all its threads. */
static struct timespec read_clock(jo_process *p)
{
	const int64_t whole = INT64_C(1000000000);
	int64_t shown = jo_clock_shown(p);
	struct timespec t = {jo_hermetic_second() + shown / whole, shown % whole};
	p->group->clock += STEP;
	return t;
}

/* answer makes the call return a result, or fail if the process has given an address that it has no memory at. */
static void answer(const jo_process *p, int written, int64_t result)
{
	if (!jo_stop_answer(p->id, written ? result : -EFAULT))
		jo_hermetic_end(p, "a clock cannot be shown");
}

/* put writes an answer, unless the process wants none. */
static int put(jo_process *p, uint64_t at, const void *from, size_t n)
{
	return at == 0 || jo_process_write(p, at, from, n);
}

enum kind { SHOWN, RUNS, STRANGE };

/* kind_of says what becomes of a clock: it is shown; it runs, because it counts from a start or is a processor's; or
 * it is not known. */
static enum kind kind_of(int clock)
{
	enum { ALARM = 8, BOOT_ALARM = 9, OF_DESCRIPTOR = 3 };
	if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == ALARM)
		return SHOWN;
	return clock == BOOT_ALARM || (clock < 0 && (clock & 3) != OF_DESCRIPTOR) ? RUNS : STRANGE;
}

/* asks reports whether a call reads a clock; *kind is which kind. */
static int asks(const jo_stop *s, enum kind *kind)
{
	*kind = SHOWN;
	switch (s->number) {
	case SYS_clock_gettime: *kind = kind_of((int)s->arguments[0]); return 1;
#ifdef SYS_time
	case SYS_time:
#endif
	case SYS_gettimeofday: return 1;
	default: return 0;
	}
}

int jo_clock_call(jo_process *p, const jo_stop *s, int late)
{
	const uint64_t *args = s->arguments;
	enum kind kind;
	if (!asks(s, &kind) || JO_WITHOUT(READINGS))
		return 0;
	if (kind == STRANGE)
		jo_hermetic_end(p, "it reads a clock that cannot be shown");
	if (kind == SHOWN && late)
		jo_hermetic_end(p, "it reads the clock after long waits");
	if (kind != SHOWN || !jo_hermetic())
		return 1;
	struct timespec t = read_clock(p);
	if (s->number == SYS_clock_gettime) {
		answer(p, jo_process_write(p, args[1], &t, sizeof t), 0);
	} else if (s->number == SYS_gettimeofday) {
		const struct timeval v = {t.tv_sec, t.tv_nsec / 1000};
		const struct timezone none = {0, 0};
		answer(p, put(p, args[0], &v, sizeof v) && put(p, args[1], &none, sizeof none), 0);
	} else {
		answer(p, put(p, args[0], &t.tv_sec, sizeof t.tv_sec), t.tv_sec);
	}
	return 1;
}
