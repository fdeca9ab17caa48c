/* other.c: calls that ask for limits, clocks, processes or devices. */
#include "other.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "control.h"
#include "filter.h"
#include "given.h"
#include "hermetic.h"
#include "look.h"
#include "names.h"
#include "output.h"
#include "path.h"
#include "report.h"
#include "stop.h"
#include "use.h"

static int identity_changed;

int jo_other_identity(void) { return identity_changed; }

/* connect_call notes a connection, because the other end may answer something new each time. If
 * the socket's name is absent, nobody listens there, and only its absence is noted. glibc looks
 * so for nscd's socket. */
static void connect_call(jo_process *p, const uint64_t args[6])
{
	struct sockaddr_un a = {0};
	jo_path path;
	size_t n = args[2] < sizeof a ? (size_t)args[2] : sizeof a;
	if (!jo_process_read(p, args[1], &a, n) || a.sun_family != AF_UNIX || a.sun_path[0] == 0) {
		jo_use(p, JO_USE_SOCKET, NULL);
		jo_hermetic_end(p, "it connects to something");
		return;
	}
	char name[sizeof a.sun_path + 1] = {0};
	memcpy(name, a.sun_path, sizeof a.sun_path);
	if (jo_path_make(p, AT_FDCWD, name, 1, &path) != JO_SOMETHING || jo_look_at(p, &path, JO_LOOKED) >= 0) {
		jo_use(p, JO_USE_SOCKET, name);
		jo_hermetic_end(p, "it connects to something");
	}
}

/* signal_call notes a signal to a process outside the tree. */
static void signal_call(jo_process *p, const uint64_t args[6])
{
	pid_t to = (pid_t)args[0];
	/* The process group of the tracer and its host has other processes than the tree's. */
	int in_tree = to > 0    ? jo_process_was(to)
	              : to == 0 ? getpgid(p->id) != getpgrp()
	                        : to != -1 && jo_process_was(-to);
	if (!in_tree && !JO_WITHOUT(STRANGERS))
		jo_use(p, JO_USE_SIGNAL, NULL);
}

/* identity_call notes that a process takes an id that is not its own. */
static void identity_call(jo_process *p, long nr, const uint64_t args[6])
{
	uint32_t is_group = nr == SYS_setgid || nr == SYS_setregid || nr == SYS_setresgid || nr == SYS_setfsgid;
	uint32_t own = is_group ? getegid() : geteuid(), real = is_group ? getgid() : getuid();
	int n = nr == SYS_setresuid || nr == SYS_setresgid ? 3 : nr == SYS_setreuid || nr == SYS_setregid ? 2 : 1;
	for (int i = 0; i < n; i++) {
		uint32_t id = (uint32_t)args[i];
		if (id == UINT32_MAX || (id == own && id == real))
			continue;
		identity_changed = 1;
		jo_use(p, JO_USE_IDENTITY, NULL);
	}
}

/* clone_call handles a clone with flags that matter. */
static void clone_call(jo_process *p, uint64_t flags)
{
	if (flags & JO_CLONE_UNTRACED) /* the calls of an untraced child would fail */
		jo_stop_change(p->id, 0, flags & ~(uint64_t)JO_CLONE_UNTRACED);
	if (flags & JO_CLONE_NAMESPACES)
		jo_use(p, JO_USE_NAMESPACE, NULL);
	else if ((flags & CLONE_FS) && (flags & CLONE_THREAD) == 0)
		jo_use(p, JO_USE_LIVES, "clone");
}

/* terminal_call answers for a file that stands for a terminal: the file is one, with the usual
 * settings. The real terminal's settings would be an input. The structure is the kernel's struct
 * termios2; the older request gets its first part. */
static int terminal_call(jo_process *p, const uint64_t args[6])
{
	static const struct {
		uint32_t input, output, control, local;
		uint8_t line, characters[19];
		uint32_t speeds[2];
	} usual = {
		0x500, 5, 0xbf, 0x8a3b, 0, {3, 28, 127, 21, 4, 0, 1, 0, 17, 19, 26, 0, 18, 15, 23, 22}, {38400, 38400}};
	size_t n = args[1] == JO_TCGETS ? offsetof(__typeof__(usual), speeds) : sizeof usual;
	if (!jo_output_is_terminal(p->id, (int)args[0]) || !jo_process_write(p, args[2], &usual, n))
		return JO_GO_ON;
	return JO_ANSWERED;
}

/* ioctl_call handles an ioctl that the filter does not allow. */
static void ioctl_call(jo_process *p, const uint64_t args[6])
{
	struct stat st;
	char text[64];
	if (jo_filter_control((uint32_t)args[1]))
		return;
	snprintf(text, sizeof text, "/proc/%d/fd/%d", (int)p->id, (int)args[0]);
	/* The device's opening was noted, or the connection. */
	if (stat(text, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
		return;
	if (args[1] == JO_GET_FLAGS) {
		jo_look_flags(p, (int)args[0]);
		return;
	}
	snprintf(text, sizeof text, "ioctl %#x", (unsigned)args[1]);
	jo_use(p, JO_USE_UNKNOWN, text);
}

/* limit_call notes that a process asks for a limit. bash asks at its start how many processes it
 * may have, only for its own use. So the detail tells whether a program asks for that again. */
static void limit_call(const jo_process *p, uint64_t which)
{
	char text[32];
	int again = which == RLIMIT_NPROC && p->group->counted && !JO_WITHOUT(AGAIN);
	snprintf(text, sizeof text, "%u%s", (unsigned)which, again ? " again" : "");
	jo_use(p, JO_USE_LIMITS, text);
	p->group->counted |= which == RLIMIT_NPROC;
}

static void list_call(jo_process *p, int fd)
{
	jo_path folder;
	char real[JO_PATH];
	if (jo_path_opened(p, fd, &folder, real) == JO_SOMETHING)
		jo_look_list(p, &folder, real);
}

static int write_call(jo_process *p, const uint64_t args[6])
{
	int found = jo_output_stop(p->id, (int)args[0]);
	if (found == JO_OUTPUT_OTHER)
		jo_use_inherited(p, (int)args[0]);
	if (found == -EPIPE)
		return JO_BROKEN_PIPE;
	if (found < 0)
		jo_stop_refuse(p->id, -found);
	return JO_GO_ON;
}

/* seek_call: a process reads, changes or seeks in a descriptor as in a file, or asks for its file
 * position. */
static int seek_call(jo_process *p, long nr, const uint64_t args[6])
{
	int fd = (int)args[0], asks = nr == SYS_lseek && args[1] == 0 && (int)args[2] == SEEK_CUR;
	int reads = nr == SYS_lseek || nr == SYS_pread64 || nr == SYS_preadv || nr == SYS_preadv2;
	int64_t answer = JO_WITHOUT(SOUGHT) ? JO_OUTPUT_ASKED : jo_output_sought(p, fd, !asks);
	if (answer == -ESPIPE && nr == SYS_ftruncate)
		answer = -EINVAL;
	if (answer != JO_OUTPUT_ASKED)
		jo_stop_answer(p->id, answer);
	else if (nr == SYS_lseek)
		jo_given_asked(p, fd, asks ? JO_GIVEN_PLACE : JO_GIVEN_SIZE);
	else if (fd > 2 || reads)
		jo_use_inherited(p, fd);
	return JO_GO_ON;
}

int jo_other_call(jo_process *p, const jo_call *c, const uint64_t args[6])
{
	switch (c->class) {
	case JO_CALL_GETCWD: jo_look_here(p, p->group); break;
	case JO_CALL_LIST: list_call(p, (int)args[0]); break;
	case JO_CALL_CLOCK_ID:
		/* Where there is no time call, the C library's time reads the coarse clock. */
		jo_use(p, JO_USE_CLOCK, args[0] == CLOCK_REALTIME_COARSE ? "time" : "clock_gettime");
		break;
	case JO_CALL_TIME: jo_use(p, JO_USE_CLOCK, "time"); break;
	case JO_CALL_TIME_OF_DAY: jo_use(p, JO_USE_CLOCK, "gettimeofday"); break;
	case JO_CALL_FSYSTEM:
		if ((int)args[0] <= 2 || !jo_use_inherited(p, (int)args[0]))
			jo_look_mounted_at(p, (int)args[0]);
		break;
	case JO_CALL_CLONE: clone_call(p, args[0]); break;
	case JO_CALL_AFFINITY: break; /* trace.c */
	case JO_CALL_CONNECT: connect_call(p, args); break;
	case JO_CALL_SOCKET: jo_use(p, JO_USE_SOCKET, "socket"); break;
	case JO_CALL_SIGNAL: signal_call(p, args); break;
	case JO_CALL_IDENTITY: identity_call(p, c->nr, args); break;
	case JO_CALL_IOCTL:
		if (jo_given_control(p, args))
			break;
		if (args[1] == JO_TCGETS || args[1] == JO_TCGETS2)
			return terminal_call(p, args);
		ioctl_call(p, args);
		break;
	case JO_CALL_WRITE: return write_call(p, args);
	case JO_CALL_SEEK: return seek_call(p, c->nr, args);
	case JO_CALL_URING:
		/* io_uring works without calls that the tracer could see. So this call fails as on a
		 * kernel without it, and the program may then work in another way. */
		if (!JO_WITHOUT(URING))
			jo_use(p, JO_USE_UNKNOWN, "io_uring");
		jo_stop_refuse(p->id, ENOSYS);
		break;
	case JO_CALL_USED:
		identity_changed |= c->flags == JO_USE_IDENTITY;
		if (c->flags == JO_USE_LIMITS)
			limit_call(p, args[c->nr == SYS_prlimit64]);
		else
			jo_use(p, c->flags, NULL);
		break;
	/* In the calls below, the filter has seen the number of a descriptor that the command was
	 * started with. It may be another file by now. */
	case JO_CALL_SEND:
		jo_use_inherited(p, (int)args[0]);
		jo_use_inherited(p, (int)args[1]);
		break;
	case JO_CALL_SPLICE:
		jo_use_inherited(p, (int)args[0]);
		jo_use_inherited(p, (int)args[2]);
		break;
	case JO_CALL_ASK: jo_given_asked(p, (int)args[0], JO_GIVEN_STAT); break;
	case JO_CALL_PEER: jo_given_asked(p, (int)args[0], JO_GIVEN_PEER); break;
	case JO_CALL_EPOLL: jo_given_asked(p, (int)args[2], JO_GIVEN_READY); break;
	case JO_CALL_WAIT: jo_given_wait(p, c->nr, args); break;
	case JO_CALL_FCNTL:
		if (!jo_given_fcntl(p, args))
			jo_use_inherited(p, (int)args[0]);
		break;
	case JO_CALL_MAP: jo_use_inherited(p, (int)args[4]); break;
	default: jo_use_inherited(p, (int)args[0]);
	}
	return JO_GO_ON;
}
