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
#include "keeper.h"
#include "plain.h"
#include "use.h"

extern char **environ;

/* Signals that end a command and must not end the tracer: it has to report. And those
 * that it uses itself. */
static const int taken[] = {SIGINT, SIGQUIT, SIGHUP, SIGTERM, SIGPIPE, SIGXFSZ, SIGALRM, SIGCHLD};
enum { TAKEN = sizeof taken / sizeof *taken };

static struct sigaction before[TAKEN];
static int go[2] = {-1, -1}, told[2] = {-1, -1};
static int early; /* why the command cannot be run, if that was told first */

static void ignore(int signal) { (void)signal; }

/* is_null: reading /dev/null is no input. */
static int is_null(int fd)
{
	struct stat st;
	return fstat(fd, &st) == 0 && S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3);
}

/* watch_descriptors finds the descriptors that the command will have. Those that
 * are the tracer's own it will not. */
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
		if (is_null(fd))
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
}

void jo_child_prepare(const jo_request *r)
{
	struct sigaction a = {.sa_handler = ignore};
	struct sigaction quiet = {.sa_handler = SIG_DFL, .sa_flags = SA_NOCLDSTOP};
	for (int i = 0; i < TAKEN; i++)
		sigaction(taken[i], &a, &before[i]);
	/* Stops are waited for: no signal for each. */
	sigaction(SIGCHLD, &quiet, NULL);
	watch_descriptors(r);
}

/* A set of signals as the kernel has it; glibc's is larger. */
static void block(uint64_t set) { syscall(SYS_rt_sigprocmask, SIG_SETMASK, &set, NULL, sizeof set); }

static void signals(const jo_request *r)
{
	struct sigaction fresh = {.sa_handler = SIG_DFL};
	jo_keeper_child();
	if (r->head.flags & JO_DEFAULTS) {
		for (int s = 1; s <= SIGRTMAX; s++)
			sigaction(s, &fresh, NULL);
	} else {
		/* A handler is gone after execve: only what was ignored matters. */
		for (int i = 0; i < TAKEN; i++)
			if (before[i].sa_handler == SIG_IGN)
				sigaction(taken[i], &before[i], NULL);
	}
	block(r->head.blocked);
}

/* What the child tells: 'l' and a descriptor, 's' for stops only, 'u' for no filter
 * at all, and then it ends; 'f' and an errno. */
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

static char wait_to_go(void)
{
	char how = 'p';
	while (read(go[0], &how, 1) < 0 && errno == EINTR)
		;
	return how;
}

/* filter puts the filter on. */
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
	char how = wait_to_go();
	if (how == 'p')
		jo_plain_child(tracer);
	/* The folder of a front is the command's, whatever path leads there. */
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
	/* It comes to no filter where it cannot enter its folder. */
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
