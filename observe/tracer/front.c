/* front.c: passes signals and the exit status on, and starts the program that keeps the result. */
#include "front.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "control.h"

extern char **environ;

/* Memory that the front and the tracer share. */
static volatile struct {
	pid_t command; /* 0: it does not run */
	int started, ended, status, lives;
	int lost; /* why output could not be passed on, an errno */
} *shared;

static const jo_request *request;
static int tells = -1, hears = -1; /* the pipe from the tracer to the front: the ends to write and to read */
static pid_t tracer;
static int lock = -1, claim;
static const char *lock_name;

int jo_front(void) { return shared != NULL; }

/* ---- of the tracer */

static void tell(char what)
{
	while (shared != NULL && write(tells, &what, 1) < 0 && errno == EINTR)
		;
}

void jo_front_runs(pid_t command)
{
	if (shared == NULL)
		return;
	shared->command = command;
	shared->started = 1;
	tell('r');
}

void jo_front_ended(int status)
{
	if (shared == NULL)
		return;
	shared->command = 0;
	shared->status = status;
	shared->ended = 1;
}

void jo_front_lost(int why)
{
	if (shared != NULL)
		shared->lost = why;
}

void jo_front_lives(void)
{
	if (shared != NULL)
		shared->lives = 1;
}

void jo_front_vain(void)
{
	static int told;
	if (!told)
		tell('v');
	told = 1;
}

int jo_front_plain(void)
{
	if (shared == NULL)
		return 0;
	tell('p');
	_exit(0);
}

/* ---- of the front */

static sigset_t waiting;       /* signals that came while neither the command nor the keeping program ran */
static volatile pid_t keeping; /* the program that keeps the result; 0: it does not run */
static struct sigaction before[65];
static uint64_t blocked;

/* of_group reports whether the kernel has sent a signal to the whole foreground process group.
 * The command then gets it without the front. */
static int of_group(int signal, const siginfo_t *info)
{
	return info->si_code > 0 && (signal == SIGINT || signal == SIGQUIT || signal == SIGHUP || signal == SIGWINCH);
}

/* end_keeping ends the program that keeps the result: the command has ended, and a signal that
 * would have ended it must not wait for that program. The cache stays intact whenever the
 * program ends. */
static void end_keeping(pid_t keeper, int signal)
{
	if (signal != SIGWINCH && signal != SIGURG && !JO_WITHOUT(KEEPING))
		kill(keeper, SIGKILL);
}

static void hand_on(int signal, siginfo_t *info, void *context)
{
	int kept = errno;
	pid_t command = shared->command, keeper = keeping;
	(void)context;
	if (of_group(signal, info))
		return;
	if (command > 0)
		kill(command, signal);
	else if (keeper > 0)
		end_keeping(keeper, signal);
	else
		sigaddset(&waiting, signal);
	errno = kept;
}

/* hand_on_waiting passes on the waiting signals when there is a process to get them. From then
 * on the handler adds none. */
static void hand_on_waiting(void)
{
	if (shared->command <= 0 && keeping <= 0)
		return;
	for (int s = 1; s <= 64; s++) {
		if (!sigismember(&waiting, s))
			continue;
		if (shared->command > 0)
			kill(shared->command, s);
		else if (keeping > 0)
			end_keeping(keeping, s);
	}
	sigemptyset(&waiting);
}

/* is_handed_on reports whether the front passes a signal on. It does not for signals that stop
 * or continue a process: these act on the front itself. Nor for those that come from what the
 * front does, SIGCHLD and faults, nor for 32 and 33, which glibc uses. */
static int is_handed_on(int signal)
{
	return signal != SIGKILL && signal != SIGSTOP && signal != SIGTSTP && signal != SIGTTIN && signal != SIGTTOU &&
	       signal != SIGCONT && signal != SIGCHLD && signal != SIGSEGV && signal != SIGBUS && signal != SIGILL &&
	       signal != SIGFPE && signal != SIGTRAP && signal != SIGSYS && signal != 32 && signal != 33;
}

static void block(uint64_t set) { syscall(SYS_rt_sigprocmask, SIG_SETMASK, &set, NULL, sizeof set); }

static void take_signals(void)
{
	struct sigaction a = {.sa_sigaction = hand_on, .sa_flags = SA_SIGINFO | SA_RESTART};
	struct sigaction usual = {.sa_handler = SIG_DFL};
	sigfillset(&a.sa_mask);
	for (int s = 1; s <= 64; s++)
		if (is_handed_on(s) && sigaction(s, NULL, &before[s]) == 0 && before[s].sa_handler != SIG_IGN)
			sigaction(s, &a, NULL);
	sigaction(SIGCHLD, &usual, &before[SIGCHLD]);
	block(0);
}

static void give_signals_back(void)
{
	for (int s = 1; s <= 64; s++)
		if ((is_handed_on(s) && before[s].sa_handler != SIG_IGN) || s == SIGCHLD)
			sigaction(s, &before[s], NULL);
	block(blocked);
}

static void unlock(void)
{
	if (claim > 0)
		close(claim);
	claim = 0;
	if (lock < 0)
		return;
	unlink(lock_name);
	close(lock);
	lock = -1;
}

/* become executes the command in this process, unobserved. */
static void become(void)
{
	unlock();
	give_signals_back();
	environ = request->variables;
	execvp(request->arguments[0], request->arguments);
	_exit(errno == ENOENT ? 127 : 126);
}

/* set_close_on_exec sets, or clears, close-on-exec for the report, the output and the claim. The
 * command must not have these descriptors, and the program that keeps the result needs them. */
static void set_close_on_exec(int set)
{
	const int files[] = {request->head.report, request->head.out, request->head.err, claim};
	for (int i = 0; i < 4; i++)
		if (i < 3 || claim > 0)
			fcntl(files[i], F_SETFD, set ? FD_CLOEXEC : 0);
}

/* give_variables_back gives the variables their names again that the front must not obey. */
static void give_variables_back(void)
{
	static const char held[] = JO_HELD;
	for (char **e = environ; *e != NULL; e++)
		if (strncmp(*e, held, sizeof held - 1) == 0)
			*e += sizeof held - 1;
}

static void keep(char **words)
{
	siginfo_t ended;
	block(~UINT64_C(0)); /* no handler may run in the child */
	pid_t child = fork();
	if (child == 0) {
		give_signals_back();
		set_close_on_exec(0);
		give_variables_back();
		execv(words[0], words + 1);
		_exit(125);
	}
	keeping = child;
	block(0);
	hand_on_waiting();
	while (child > 0 && waitid(P_PID, (id_t)child, &ended, WEXITED | WNOWAIT) < 0 && errno == EINTR)
		;
	keeping = 0; /* until waitpid its id belongs to no other process */
	while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
}

static void end_as(int status)
{
	if (WIFSIGNALED(status)) {
		const struct rlimit none = {0, 0};
		struct sigaction usual = {.sa_handler = SIG_DFL};
		int s = WTERMSIG(status);
		uint64_t all_but = ~(UINT64_C(1) << (s - 1));
		setrlimit(RLIMIT_CORE, &none); /* the command has dumped its own core */
		sigaction(s, &usual, NULL);
		block(all_but);
		kill(getpid(), s);
		_exit(128 + s);
	}
	_exit(WEXITSTATUS(status));
}

/* end_lost ends the front like a program that cannot write its output. */
static void end_lost(int why)
{
	if (why == EPIPE && before[SIGPIPE].sa_handler != SIG_IGN)
		end_as(SIGPIPE);
	dprintf(2, "jitcache: write error: %s\n", strerror(why));
	_exit(1);
}

static void reap(void)
{
	while (waitpid(tracer, NULL, 0) < 0 && errno == EINTR)
		;
}

static void attend(char **words)
{
	char said = 0;
	for (;;) {
		ssize_t n = read(hears, &said, 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		if (said == 'r') {
			hand_on_waiting();
		} else if (said == 'v') {
			unlock();
		} else if (said == 'p') {
			reap();
			become();
		} else { /* the report is complete */
			if (!shared->lives)
				reap();
			int well = WIFEXITED(shared->status) && WEXITSTATUS(shared->status) == 0;
			if (!well)
				unlock();
			if (well || (request->head.flags & JO_FAILURES) != 0)
				keep(words);
			unlock();
			if (well && shared->lost != 0)
				end_lost(shared->lost);
			end_as(shared->status);
		}
	}
	/* The tracer was killed, and the tree with it; or it ended before the command ran. */
	reap();
	if (!shared->started)
		become();
	unlock();
	end_as(shared->ended ? shared->status : SIGKILL);
}

void jo_front_start(jo_request *r, char **words)
{
	int ends[2];
	uint64_t all = ~UINT64_C(0);
	request = r;
	lock = atoi(words[0]);
	lock_name = words[1];
	claim = atoi(words[2]);
	set_close_on_exec(1);
	if (lock >= 0)
		fcntl(lock, F_SETFD, FD_CLOEXEC);
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &blocked, sizeof blocked);
	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED || pipe2(ends, O_CLOEXEC) != 0)
		become();
	hears = ends[0];
	tells = ends[1];
	tracer = fork();
	if (tracer < 0)
		become();
	if (tracer > 0) {
		close(tells);
		take_signals();
		attend(words + 3);
	}
	close(hears);
	if (lock >= 0)
		close(lock);
	if (claim > 0)
		close(claim);
	r->head.done = tells;
	r->head.blocked = blocked;
}
