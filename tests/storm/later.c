/* later.c: lets a process believe that time has passed, for what happens hourly.
 *
 * Preloaded, it answers clock_gettime of the monotonic clocks with as many seconds
 * more as the file that LATER names is long. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *t)
{
	int failed = (int)syscall(SYS_clock_gettime, clock, t);
	const char *name = getenv("LATER");
	struct stat st;
	if (!failed && clock == CLOCK_MONOTONIC_COARSE && name != NULL && stat(name, &st) == 0)
		t->tv_sec += st.st_size;
	return failed;
}
