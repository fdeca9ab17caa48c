/* keeper.c: notices when the keeper has died. */
#include "keeper.h"

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/types.h>
#include <unistd.h>

#include "front.h"

static pid_t keeper;
static int left;
static volatile sig_atomic_t signalled, told;
static struct sigaction before;

/* ended handles the signal that tells of the keeper's end. The signal may come just before the
 * tracer begins to wait, and so interrupt nothing. Hence a timer goes on interrupting. */
static void ended(int signal, siginfo_t *info, void *context)
{
	const struct itimerval each = {{0, 50000}, {0, 50000}};
	(void)signal;
	(void)context;
	signalled = 1;
	if (info->si_pid == keeper) /* it sends it, or the kernel does in its name */
		told = 1;
	setitimer(ITIMER_REAL, &each, NULL);
}

void jo_keeper_start(void)
{
	struct sigaction a = {.sa_sigaction = ended, .sa_flags = SA_SIGINFO}; /* without SA_RESTART */
	uint64_t none = 0;
	keeper = getppid();
	sigaction(SIGUSR2, &a, &before);
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, NULL, sizeof none); /* the host's mask is for the child */
	prctl(PR_SET_PDEATHSIG, SIGUSR2, 0, 0, 0);
}

void jo_keeper_child(void)
{
	struct sigaction usual = {.sa_handler = before.sa_handler == SIG_IGN ? SIG_IGN : SIG_DFL};
	sigaction(SIGUSR2, &usual, NULL);
}

int jo_keeper_gone(void) { return signalled && !left && (told || getppid() != keeper); }

int jo_keeper_died(void) { return getppid() != keeper; }

void jo_keeper_leave(void)
{
	left = 1;
	prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0);
	if (getppid() == keeper && !jo_front())
		kill(keeper, SIGKILL);
}
