/* given.c: recognises the calls that ask about descriptors. */
#include "given.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "calls.h"
#include "control.h"
#include "jobserver.h"
#include "report.h"
#include "use.h"

static const char *const names[JO_GIVEN_QUESTIONS] = {
	"stat", "place", "size", "flags", "terminal", "peer", "ready", "control"};

/* tells_kind reports whether the answer to a question about a descriptor follows from what it is: the type of
 * its file, and whether it may be read. */
static int tells_kind(const jo_process *p, int fd, enum jo_given what)
{
	char path[64];
	struct stat st;
	if (what != JO_GIVEN_STAT && what != JO_GIVEN_FLAGS && what != JO_GIVEN_TERMINAL)
		return 0;
	snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)p->id, fd);
	return stat(path, &st) == 0 && (what != JO_GIVEN_STAT || (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)));
}

/* kind_of says what a descriptor is that the command was given, as record/descriptors.go does. */
static unsigned kind_of(int fd)
{
	enum { OPEN = 1 << 4, NULL_DEVICE = 1 << 5, TERMINAL = 1 << 6, ACCESS_MODE = 7 };
	struct stat st;
	int flags = fcntl(fd, F_GETFL);
	if (flags < 0 || fstat(fd, &st) != 0)
		return 0;
	unsigned kind = (st.st_mode & S_IFMT) >> 12 | OPEN | (unsigned)(flags & O_ACCMODE) << ACCESS_MODE;
	if (!S_ISCHR(st.st_mode))
		return kind;
	return kind | (st.st_rdev == makedev(1, 3) ? NULL_DEVICE : isatty(fd) ? TERMINAL : 0);
}

int jo_given_asked(jo_process *p, int fd, enum jo_given what)
{
	char detail[64];
	int as = JO_WITHOUT(QUESTIONS) ? -1 : jo_use_given_as(p, fd);
	if (as < 0)
		return 0;
	uint8_t *times = &p->group->asked[what];
	if (as == 0) {
		*times = *times < 9 ? *times + 1 : 9;
		snprintf(detail, sizeof detail, "%s %d %u", names[what], *times, kind_of(0));
		jo_use(p, JO_USE_STDIN, detail);
		return 1;
	}
	int kind = tells_kind(p, fd, what);
	snprintf(detail, sizeof detail, kind ? "%d kind %u" : "%d", as, kind_of(as));
	jo_use(p, kind ? JO_USE_GIVEN : JO_USE_DESCRIPTOR, detail);
	return 1;
}

void jo_given_exists(jo_process *p, int fd)
{
	char path[64];
	struct stat st;
	snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)p->id, fd);
	int found = lstat(path, &st) == 0, was = jo_use_given_number(fd);
	/* What a process has opened itself, perhaps as a second descriptor of one that was given, is open
	 * whatever was given, and what it has closed is closed. */
	int own = found != was || (found && jo_use_given_as(p, fd) < 0);
	if (fd <= STDERR_FILENO || JO_WITHOUT(QUESTIONS) || own)
		return;
	snprintf(path, sizeof path, "%d open %d", fd, found);
	jo_use(p, JO_USE_GIVEN, path);
}

/* waits_for is called for each descriptor that a process waits for. */
static void waits_for(jo_process *p, int fd)
{
	if (jo_jobserver_is(p, fd))
		jo_use(p, JO_USE_JOBSERVER, NULL);
	else if (jo_use_given_number(fd))
		jo_given_asked(p, fd, JO_GIVEN_READY);
}

/* polls handles an array of struct pollfd; selects handles a set of select. */
static void polls(jo_process *p, uint64_t at, uint64_t n)
{
	struct pollfd all[256];
	n = n < sizeof all / sizeof *all ? n : sizeof all / sizeof *all;
	if (n == 0 || !jo_process_read(p, at, all, n * sizeof *all))
		return;
	for (uint64_t i = 0; i < n; i++)
		waits_for(p, all[i].fd);
}

static void selects(jo_process *p, uint64_t at, int n)
{
	unsigned char set[128];
	int bytes = ((n < 1024 ? n : 1024) + 63) / 64 * 8;
	if (at == 0 || n <= 0 || !jo_process_read(p, at, set, (size_t)bytes))
		return;
	for (int fd = 0; fd < n && fd < bytes * 8; fd++)
		if (set[fd / 8] >> fd % 8 & 1)
			waits_for(p, fd);
}

void jo_given_wait(jo_process *p, long nr, const uint64_t args[6])
{
	if (nr == SYS_ppoll) {
		polls(p, args[0], args[1]);
		return;
	}
#ifdef __x86_64__
	if (nr == SYS_poll) {
		polls(p, args[0], args[1]);
		return;
	}
#endif
	for (int i = 1; i <= 3; i++)
		selects(p, args[i], (int)args[0]);
}

int jo_given_control(jo_process *p, const uint64_t args[6])
{
	int terminal = args[1] == JO_TCGETS || args[1] == JO_TCGETS2;
	return jo_given_asked(p, (int)args[0], terminal ? JO_GIVEN_TERMINAL : JO_GIVEN_CONTROL);
}

int jo_given_fcntl(jo_process *p, const uint64_t args[6])
{
	switch ((int)args[1]) {
	case F_GETFD: jo_given_exists(p, (int)args[0]); return 1;
	case F_GETFL: jo_given_asked(p, (int)args[0], JO_GIVEN_FLAGS); return 1;
	case F_GETPIPE_SZ: jo_given_asked(p, (int)args[0], JO_GIVEN_CONTROL); return 1;
	default: return 0;
	}
}
