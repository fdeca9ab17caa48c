/* A child of the host would be found by its wait(), or raise its SIGCHLD, and an
 * orphan would be found by the host that is process 1 of a container. So there is
 * a keeper in between: a clone without a signal at its end, which only a wait that
 * asks for clones sees. A program that is executed gets SIGCHLD as its signal
 * again, whatever clone said; so the keeper executes nothing, and shares the
 * host's memory instead of copying it.
 *
 * The keeper runs beside the host's threads and with the thread-local memory of
 * one of them: it calls the kernel by itself, and of libc only clone, while that
 * thread waits for it. */
#include "spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef __x86_64__
static long kernel5(long nr, long a, long b, long c, long d, long e)
{
	long result;
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	__asm__ volatile("syscall"
		: "=a"(result)
		: "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
		: "rcx", "r11", "memory");
	return result;
}
#elif defined __aarch64__
static long kernel5(long nr, long a, long b, long c, long d, long e)
{
	register long x8 __asm__("x8") = nr;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	__asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4) : "memory");
	return x0;
}
#endif

static long kernel(long nr, long a, long b, long c, long d) { return kernel5(nr, a, b, c, d, 0); }

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

static int is_one_of(int fd, const int *fds, int n)
{
	for (int i = 0; i < n; i++)
		if (fds[i] == fd)
			return 1;
	return 0;
}

/* close_listed closes what /proc lists, but some. */
static void close_listed(const int *fds, int n)
{
	struct {
		uint64_t ino, next;
		uint16_t size;
		uint8_t type;
		char name[];
	} *e;
	char buffer[2048] __attribute__((aligned(8)));
	int folder = (int)kernel(SYS_openat, AT_FDCWD, (long)"/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	for (int again = 1; folder >= 0 && again;) {
		again = 0;
		for (long at = 0, got = kernel(SYS_getdents64, folder, (long)buffer, sizeof buffer, 0); at < got;
			at += e->size) {
			e = (void *)(buffer + at);
			int fd = 0;
			for (const char *c = e->name; *c != 0; c++)
				fd = *c >= '0' && *c <= '9' ? fd * 10 + *c - '0' : -1000;
			if (fd < 3 || fd == folder || is_one_of(fd, fds, n))
				continue;
			kernel(SYS_close, fd, 0, 0, 0);
			again = 1;
		}
		kernel(SYS_lseek, folder, 0, SEEK_SET, 0);
	}
	if (folder >= 0)
		kernel(SYS_close, folder, 0, 0, 0);
}

/* close_others closes all descriptors from 3 on but some, which are sorted. */
static void close_others(const int *fds, int n)
{
	int from = 3;
	for (int i = 0; i <= n; i++) {
		long last = i < n ? fds[i] - 1 : 0x7fffffff;
		if (from <= last && kernel(SYS_close_range, from, last, 0, 0) != 0) { /* before Linux 5.9 */
			close_listed(fds, n);
			return;
		}
		from = i < n ? fds[i] + 1 : 0;
	}
}

/* Linux 5.3 has descriptors of processes. */
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

/* A look at whether the host still lives, where there are none. */
enum { LOOK_MS = 20 };

static int program(void *argument)
{
	const jc_spawn *s = argument;
	const uint64_t usual[4] = {0}, ignore[4] = {1 /* SIG_IGN */};
	const int from[] = {s->in, s->out, s->err};
	kernel(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0);
	if (kernel(SYS_getppid, 0, 0, 0, 0) != s->self) /* it has ended before */
		kernel(SYS_exit_group, 127, 0, 0, 0);
	for (int i = 0; i < 3; i++) {
		if (from[i] >= 0 && from[i] != i)
			kernel(SYS_dup3, from[i], i, 0, 0);
		else if (from[i] == i)
			kernel(SYS_fcntl, i, 2 /* F_SETFD */, 0, 0);
	}
	for (const int *d = s->descriptors; *d >= 0; d++)
		kernel(SYS_fcntl, *d, 2 /* F_SETFD */, 0, 0);
	for (int signal = 1; signal <= 64 && !s->inherit; signal++)
		kernel(SYS_rt_sigaction, signal, (long)usual, 0, sizeof usual[0]);
	if (s->inherit && s->ignores)
		kernel(SYS_rt_sigaction, SIGCHLD, (long)ignore, 0, sizeof ignore[0]);
	for (int i = 0; i < 16; i++)
		if (s->limited & 1u << i && kernel(SYS_prlimit64, 0, i, (long)s->limits[i], 0) != 0)
			kernel(SYS_exit_group, 127, 0, 0, 0);
	if (s->umask >= 0)
		kernel(SYS_umask, s->umask, 0, 0, 0);
	if (s->folder == NULL || kernel(SYS_chdir, (long)s->folder, 0, 0, 0) == 0) {
		kernel(SYS_rt_sigprocmask, SIG_SETMASK, (long)&s->blocked, 0, sizeof s->blocked);
		kernel(SYS_execve, (long)s->program, (long)s->arguments, (long)s->variables, 0);
	}
	kernel(SYS_exit_group, 127, 0, 0, 0);
	__builtin_unreachable();
}

static void begun(jc_spawn *s, int how)
{
	__atomic_store_n(&s->started, how, __ATOMIC_SEQ_CST);
	kernel(SYS_futex, (long)&s->started, 1 /* FUTEX_WAKE */, 1, 0);
}

/* The signal of jc_spawn_end. The keeper blocks it, as all others. */
enum { END = SIGUSR2 };

/* outlives waits until the program or the host ends, and reports whether the program
 * is the one that lives on. It ends the program if the host asks for that. */
static int outlives(const jc_spawn *s, long pid)
{
	static const uint64_t end = UINT64_C(1) << (END - 1);
	long parent = kernel(SYS_getppid, 0, 0, 0, 0);
	struct pollfd fds[3] = {
		{(int)kernel(SYS_pidfd_open, pid, 0, 0, 0), POLLIN, 0},
		{(int)kernel(SYS_pidfd_open, s->host, 0, 0, 0), POLLIN, 0},
		{(int)kernel(SYS_signalfd4, -1, (long)&end, sizeof end, O_CLOEXEC | O_NONBLOCK), POLLIN, 0},
	};
	char signal[128]; /* struct signalfd_siginfo */
	int asked = 0;
	struct timespec a_while = {0, LOOK_MS * 1000000};
	/* A host that has put its children into other namespaces is not seen from there. */
	int known = fds[0].fd >= 0 && fds[1].fd >= 0 && fds[2].fd >= 0 && parent != 0;
	if (parent != s->host && parent != 0)
		return 1; /* it was gone already, and its number may be another's */
	for (;;) {
		siginfo_t info;
		info.si_pid = 0;
		if (kernel5(SYS_waitid, P_PID, pid, (long)&info, WEXITED | WNOHANG | WNOWAIT, 0) < 0 ||
			info.si_pid == pid)
			return 0;
		if (kernel(SYS_getppid, 0, 0, 0, 0) != parent)
			return 1;
		if (!asked && __atomic_load_n(&s->ending, __ATOMIC_SEQ_CST)) {
			asked = 1;
			kernel(SYS_kill, pid, s->ends, 0, 0);
		}
		kernel5(SYS_ppoll, (long)fds, known ? 3 : 0, known ? 0 : (long)&a_while, 0, 0);
		kernel(SYS_read, fds[2].fd, (long)signal, sizeof signal, 0);
	}
}

static int keep(void *argument)
{
	jc_spawn *s = argument;
	int status = 127 << 8;
	/* What ignores SIGCHLD is not told how its children end. */
	static const uint64_t defaults[4];
	uint64_t before[4] = {0};
	kernel(SYS_rt_sigaction, SIGCHLD, (long)defaults, (long)before, sizeof defaults[0]);
	s->ignores = before[0] == 1;
	s->self = (int)kernel(SYS_getpid, 0, 0, 0, 0);
	if (!s->inherit) {
		int fds[12], n = wanted_of(s, fds);
		close_others(fds, n);
	}
	long pid = clone(program, (char *)s->stack + STACK, CLONE_VM | CLONE_VFORK | SIGCHLD, s);
	begun(s, pid > 0 ? 1 : -errno);
	close_others(&s->done, 1);       /* somebody may wait for their end */
	if (pid > 0 && outlives(s, pid)) /* with this process it ends */
		kernel(SYS_exit_group, 0, 0, 0, 0);
	while (pid > 0 && kernel(SYS_wait4, pid, (long)&status, 0, 0) == -EINTR)
		;
	s->status = status;
	kernel(SYS_write, s->done, (long)"k", 1, 0);
	kernel(SYS_exit_group, 0, 0, 0, 0);
	__builtin_unreachable();
}

int jc_spawn_start(jc_spawn *s)
{
	sigset_t all, before;
	s->stack = mmap(NULL, 2 * STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	if (s->stack == MAP_FAILED)
		return errno;
	s->host = getpid();
	/* No handler of the host may run in the keeper, nor here while it uses what is this
	 * thread's. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	s->keeper = clone(keep, (char *)s->stack + (ptrdiff_t)(2 * STACK), CLONE_VM, s);
	int why = s->keeper < 0 ? errno : 0, how;
	const struct timespec a_while = {0, LOOK_MS * 1000000};
	while (why == 0 && (how = __atomic_load_n(&s->started, __ATOMIC_SEQ_CST)) <= 0) {
		if (how < 0)
			why = -how;
		else if (jc_spawn_gone(s))
			why = ESRCH;
		else
			kernel(SYS_futex, (long)&s->started, 0 /* FUTEX_WAIT */, 0, (long)&a_while);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (why != 0) {
		if (s->keeper > 0)
			jc_spawn_wait(s);
		else
			munmap(s->stack, 2 * STACK);
	}
	return why;
}

void jc_spawn_end(jc_spawn *s)
{
	__atomic_store_n(&s->ending, 1, __ATOMIC_SEQ_CST);
	kill(s->keeper, END);
}

void jc_spawn_kill(const jc_spawn *s) { kill(s->keeper, SIGKILL); }

int jc_spawn_gone(const jc_spawn *s)
{
	siginfo_t info = {.si_pid = 0};
	/* Before Linux 4.7 waitid does not know of clones, and says EINVAL. */
	int got = waitid(P_PID, (id_t)s->keeper, &info, WEXITED | WNOHANG | WNOWAIT | __WCLONE);
	return got == 0 ? info.si_pid != 0 : errno == ECHILD;
}

void jc_spawn_wait(jc_spawn *s)
{
	while (waitpid(s->keeper, NULL, __WCLONE) < 0 && errno == EINTR)
		;
	munmap(s->stack, 2 * STACK);
}
