/* The program is the child of a process that ends at once, so that it becomes that of
 * process 1. This one in between is a clone that raises no signal at its end, which only
 * a wait that asks for clones sees; it executes nothing, because a program that is
 * executed raises SIGCHLD whatever clone said.
 *
 * Both share the host's memory, and as after vfork each lets the one before it wait: so
 * they call nothing that allocates or locks. */
#include "start.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

/* Each of the two runs on its own half. */
enum { STACK = 1 << 16, MOST_DESCRIPTORS = 1 << 16 };

typedef struct starting {
	const char *program;
	char *const *arguments, *const *variables;
	char *stack;
	int close_all;
	volatile int failed;
} starting;

static void close_others(void)
{
	struct rlimit limit = {MOST_DESCRIPTORS, MOST_DESCRIPTORS};
	if (syscall(SYS_close_range, 3U, ~0U, 0U) == 0)
		return;
	getrlimit(RLIMIT_NOFILE, &limit); /* before Linux 5.9 */
	for (unsigned fd = 3; fd < limit.rlim_cur && fd < MOST_DESCRIPTORS; fd++)
		close((int)fd);
}

static int helper(void *argument)
{
	starting *s = argument;
	const unsigned long usual[8] = {0}; /* as the kernel has a sigaction: SIG_DFL, no flags, no mask */
	sigset_t none;
	setsid();
	umask(077);
	/* Not sigaction: it refuses the two that glibc has for itself, and a process that
	 * posix_spawn has started may have got them ignored. */
	for (int signal = 1; signal < NSIG; signal++)
		syscall(SYS_rt_sigaction, signal, usual, NULL, 8UL);
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int fd = 0; s->close_all && null >= 0 && fd < 3; fd++)
		if (null != fd)
			dup2(null, fd);
		else
			fcntl(fd, F_SETFD, 0);
	if (s->close_all)
		close_others();
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (chdir("/") == 0 && (null >= 0 || !s->close_all))
		execve(s->program, s->arguments, s->variables);
	s->failed = errno != 0 ? errno : EIO;
	_exit(127);
}

static int between(void *argument)
{
	starting *s = argument;
	if (clone(helper, s->stack + STACK, CLONE_VM | CLONE_VFORK | SIGCHLD, s) < 0)
		s->failed = errno;
	_exit(0);
}

int jc_remote_start(const char *program, char *const *arguments, char *const *variables, int close_all)
{
	starting s = {program, arguments, variables, NULL, close_all, 0};
	sigset_t all, before;
	s.stack = mmap(NULL, 2 * STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	if (s.stack == MAP_FAILED)
		return errno;
	/* No handler of the host may run in either of them. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pid_t pid = clone(between, s.stack + (ptrdiff_t)(2 * STACK), CLONE_VM | CLONE_VFORK, &s);
	if (pid < 0)
		s.failed = errno;
	while (pid > 0 && waitpid(pid, NULL, __WCLONE) < 0 && errno == EINTR)
		;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	munmap(s.stack, 2 * STACK);
	return s.failed;
}
