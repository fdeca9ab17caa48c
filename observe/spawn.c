/* A child of the host would be found by its wait(), or raise its SIGCHLD, and an
 * orphan would be found by the host that is process 1 of a container. So there is
 * a keeper in between: a clone without a signal at its end, which only a wait that
 * asks for clones sees. A program that is executed gets SIGCHLD as its signal
 * again, whatever clone said; so the keeper executes nothing, and shares the
 * host's memory instead of copying it.
 *
 * The keeper runs beside the host's threads and with the thread-local memory of
 * one of them: it calls the kernel by itself, and of libc only clone, which
 * touches nothing else. */
#include "spawn.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __x86_64__
static long kernel(long nr, long a, long b, long c, long d)
{
	long result;
	register long r10 __asm__("r10") = d;
	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10)
			 : "rcx", "r11", "memory");
	return result;
}
#elif defined __aarch64__
static long kernel(long nr, long a, long b, long c, long d)
{
	register long x8 __asm__("x8") = nr;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	__asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
	return x0;
}
#endif

/* Each of the two runs on its own half. */
enum { STACK = 1 << 16 };

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

/* wanted_of sorts the descriptors that stay into fds, and returns their number. */
static int wanted_of(const jc_spawn *s, int fds[12])
{
	const int own[] = {s->in, s->out, s->err, s->done};
	int n = 0;
	for (int i = 0; i < 12; i++) {
		int fd = i < 4 ? own[i] : s->descriptors[i - 4], at = n;
		if (i >= 4 && fd < 0)
			break;
		if (fd < 3)
			continue;
		for (; at > 0 && fds[at - 1] > fd; at--)
			fds[at] = fds[at - 1];
		fds[at] = fd;
		n++;
	}
	return n;
}

/* close_between closes the descriptors from first to last. Before Linux 5.9 there
 * is no call for it. */
static void close_between(int first, int last)
{
	if (first > last || kernel(SYS_close_range, first, last, 0, 0) == 0)
		return;
	for (int fd = first; fd <= last; fd++)
		kernel(SYS_close, fd, 0, 0, 0);
}

/* close_others closes what a program must not have, nor keep open. */
static void close_others(const jc_spawn *s)
{
	struct rlimit limit;
	int fds[12], n = wanted_of(s, fds), from = 3;
	int most = kernel(SYS_prlimit64, 0, RLIMIT_NOFILE, 0, (long)&limit) == 0 && limit.rlim_cur < 1 << 20
			   ? (int)limit.rlim_cur
			   : 1 << 20;
	for (int i = 0; i < n; i++) {
		close_between(from, fds[i] - 1);
		from = fds[i] + 1;
	}
	close_between(from, most);
}

static int program(void *argument)
{
	const jc_spawn *s = argument;
	uint64_t none = 0;
	const int from[] = {s->in, s->out, s->err};
	kernel(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0);
	for (int i = 0; i < 3; i++)
		if (from[i] >= 0)
			kernel(SYS_dup3, from[i], i, 0, 0);
	for (const int *d = s->descriptors; *d >= 0; d++)
		kernel(SYS_fcntl, *d, 2 /* F_SETFD */, 0, 0);
	if (s->folder == NULL || kernel(SYS_chdir, (long)s->folder, 0, 0, 0) == 0) {
		kernel(SYS_rt_sigprocmask, SIG_SETMASK, (long)&none, 0, sizeof none);
		kernel(SYS_execve, (long)s->program, (long)s->arguments, (long)s->variables, 0);
	}
	kernel(SYS_exit_group, 127, 0, 0, 0);
	__builtin_unreachable();
}

static int keep(void *argument)
{
	jc_spawn *s = argument;
	int status = 127 << 8;
	/* What ignores SIGCHLD is not told how its children end. */
	static const uint64_t defaults[4];
	kernel(SYS_rt_sigaction, SIGCHLD, (long)defaults, 0, sizeof defaults[0]);
	if (!s->inherit)
		close_others(s);
	long pid = clone(program, (char *)s->stack + STACK, CLONE_VM | CLONE_VFORK | SIGCHLD, s);
	while (pid > 0) {
		long got = kernel(SYS_wait4, pid, (long)&status, 0, 0);
		if (got == pid || (got < 0 && got != -EINTR))
			break;
	}
	s->status = status;
	if (s->done >= 0)
		kernel(SYS_write, s->done, (long)"d", 1, 0);
	kernel(SYS_exit_group, 0, 0, 0, 0);
	__builtin_unreachable();
}

int jc_spawn_start(jc_spawn *s)
{
	sigset_t all, before;
	s->stack = mmap(NULL, 2 * STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	if (s->stack == MAP_FAILED)
		return errno;
	/* No handler of the host may run in the keeper. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	s->keeper = clone(keep, (char *)s->stack + (ptrdiff_t)(2 * STACK), CLONE_VM, s);
	int why = s->keeper < 0 ? errno : 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (why != 0)
		munmap(s->stack, 2 * STACK);
	return why;
}

void jc_spawn_kill(const jc_spawn *s) { kill(s->keeper, SIGKILL); }

void jc_spawn_wait(jc_spawn *s)
{
	while (waitpid(s->keeper, NULL, __WCLONE) < 0 && errno == EINTR)
		;
	munmap(s->stack, 2 * STACK);
}
