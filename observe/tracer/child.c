/* child.c: sets the command's process up, with its filter of system calls, and executes it. */
#include "child.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "filter.h"
#include "front.h"
#include "jobserver.h"
#include "keeper.h"
#include "plain.h"
#include "use.h"

extern char **environ;

/* Signals that may end a command and must not end the tracer, which still has to report; and
 * signals that the tracer uses itself. */
static const int taken[] = {SIGINT, SIGQUIT, SIGHUP, SIGTERM, SIGPIPE, SIGXFSZ, SIGALRM, SIGCHLD};
enum { TAKEN = sizeof taken / sizeof *taken };

static struct sigaction before[TAKEN];
static int go[2] = {-1, -1}, told[2] = {-1, -1};
static int early; /* an errno, if the child failed before it installed a filter */

static void ignore(int signal) { (void)signal; }

/* is_null reports whether a descriptor is /dev/null. Reading from that is no input; but that standard input
 * is /dev/null is one. */
static int is_null(int fd)
{
	struct stat st;
	return fstat(fd, &st) == 0 && S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3);
}

/* watch_descriptors makes the filter watch the descriptors that the command will have. The
 * command does not get the tracer's own: they are closed on exec. */
static void watch_descriptors(const jo_request *r)
{
	int came[64], n = 0;
	DIR *d = opendir("/proc/self/fd");
	jo_filter_watch(1, 1);
	jo_filter_watch(2, 1);
	for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
		int fd = atoi(e->d_name);
		if (e->d_name[0] == '.' || fd == dirfd(d) || fd == 1 || fd == 2)
			continue;
		if (fd == r->head.report || fd == r->head.done || fd == r->head.out || fd == r->head.err) {
			fcntl(fd, F_SETFD, FD_CLOEXEC);
			continue;
		}
		if (fd == r->head.channel) {
			fcntl(fd, F_SETFD, 0);
			continue;
		}
		if (fd > 2 && !(r->head.flags & JO_INHERIT)) {
			fcntl(fd, F_SETFD, FD_CLOEXEC);
			continue;
		}
		if (fd > 2 && is_null(fd))
			continue;
		jo_filter_watch(fd, 0);
		if (fd > 2)
			jo_filter_watch(fd, 1);
		if (n < 64)
			came[n++] = fd;
	}
	if (d != NULL)
		closedir(d);
	jo_use_came(came, n);
	jo_jobserver_find(r->variables);
}

void jo_child_prepare(const jo_request *r)
{
	struct sigaction a = {.sa_handler = ignore};
	struct sigaction quiet = {.sa_handler = SIG_DFL, .sa_flags = SA_NOCLDSTOP};
	for (int i = 0; i < TAKEN; i++)
		sigaction(taken[i], &a, &before[i]);
	/* The tracer waits for stops, and needs no signal for each. */
	sigaction(SIGCHLD, &quiet, NULL);
	watch_descriptors(r);
}

/* block sets the mask of blocked signals. The kernel's set is smaller than glibc's. */
static void block(uint64_t set) { syscall(SYS_rt_sigprocmask, SIG_SETMASK, &set, NULL, sizeof set); }

static void signals(const jo_request *r)
{
	struct sigaction fresh = {.sa_handler = SIG_DFL};
	jo_keeper_child();
	if (r->head.flags & JO_DEFAULTS) {
		for (int s = 1; s <= SIGRTMAX; s++)
			sigaction(s, &fresh, NULL);
	} else {
		/* execve removes handlers: only ignored signals matter. */
		for (int i = 0; i < TAKEN; i++)
			if (before[i].sa_handler == SIG_IGN)
				sigaction(taken[i], &before[i], NULL);
	}
	block(r->head.blocked);
}

/* What the child tells: 'l' and a descriptor: notices; 's': stops only; 'u': no filter, and
 * the child ends; 'f' and an errno: the child has failed. */
typedef struct message {
	int kind, value;
} message;

static void tell(int kind, int value)
{
	message m = {kind, value};
	while (write(told[1], &m, sizeof m) < 0 && errno == EINTR)
		;
}

static int hear(message *m)
{
	ssize_t n;
	while ((n = read(told[0], m, sizeof *m)) < 0 && errno == EINTR)
		;
	return n == (ssize_t)sizeof *m;
}

/* wait_to_go returns what the tracer says. If that was killed before, the child ends. */
static char wait_to_go(void)
{
	char how;
	ssize_t n;
	while ((n = read(go[0], &how, 1)) < 0 && errno == EINTR)
		;
	if (n != 1)
		_exit(125);
	return how;
}

/* filter installs the filter and tells which one. */
static void filter(char how)
{
	int listener = how == 'n' ? jo_filter_install(JO_NOTICES) : -1;
	if (listener >= 0) {
		tell('l', listener);
		if (wait_to_go() != 'n')
			_exit(125);
	} else if (jo_filter_install(JO_STOPS) < 0) {
		tell('u', 0);
		_exit(125);
	} else {
		tell('s', 0);
	}
}

static void child(const jo_request *r, pid_t tracer)
{
	char how;
	close(go[1]); /* or the end of the tracer would not be the end of the pipe */
	close(told[0]);
	how = wait_to_go();
	if (how == 'p')
		jo_plain_child(tracer);
	/* A front already is in the command's folder, by whichever path. */
	if (dup2(r->head.out, 1) < 0 || dup2(r->head.err, 2) < 0 || (!jo_front() && chdir(r->folder) != 0)) {
		tell('f', errno);
		_exit(127);
	}
	signals(r);
	environ = r->variables;
	if (how != 'p')
		filter(how);
	execvp(r->arguments[0], r->arguments);
	int why = errno;
	tell('f', why);
	_exit(why == ENOENT ? 127 : 126);
}

pid_t jo_child_start(const jo_request *r)
{
	if (pipe2(go, O_CLOEXEC) != 0 || pipe2(told, O_CLOEXEC) != 0)
		return -1;
	pid_t self = getpid(), pid = fork();
	if (pid == 0)
		child(r, self);
	close(go[0]);
	close(told[1]);
	return pid;
}

void jo_child_go(char how)
{
	while (write(go[1], &how, 1) < 0 && errno == EINTR)
		;
}

char jo_child_told(int *listener)
{
	message m;
	if (!hear(&m))
		return 'u';
	*listener = m.value;
	/* A child that cannot enter its folder does not get as far as the filter. */
	early = m.kind == 'f' ? m.value : 0;
	return m.kind == 'l' ? 'l' : m.kind == 'u' ? 'u' : 's';
}

int jo_child_failed(void)
{
	message m;
	int said = early;
	while (hear(&m))
		said = m.kind == 'f' ? m.value : said;
	close(told[0]);
	close(go[1]);
	return said;
}
