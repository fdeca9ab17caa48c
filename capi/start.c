/* start.c: how the library comes up without the host noticing that Go is
 * inside.
 *
 * The Go runtime starts in the library's own initialiser, when it is loaded.
 * Three things are done around that:
 *
 * - All signals are blocked. Go's threads inherit the mask, so the host's
 *   signals are never delivered to them. Go unblocks the signals of faults again;
 *   the overlay stops it from unblocking four others (UNBLOCKED in
 *   capi/overlay/runtimes.py).
 * - SIGPIPE and SIGURG get the host's dispositions back. Go would turn an
 *   ignored SIGPIPE into a caught one, which exec'ed children see as default.
 *   Its handler of SIGURG, with the preemption signal that belongs to it,
 *   makes PETSc abort the job. The library is linked with preemption off.
 * - Go adds SA_ONSTACK to the handlers that the host had installed. It is removed
 *   again, unless the host had set it.
 */
#include <signal.h>
#include <stddef.h>

#include "controls.h"
#include "second_runtime.h"

static sigset_t host_mask;
static struct sigaction host_actions[NSIG];
static unsigned char host_known[NSIG];

/* go_keeps says whether Go needs a signal. Go turns a fault in Go code into a panic,
 * which the library survives, and passes any other fault on. */
static int go_keeps(int sig) { return sig == SIGSEGV || sig == SIGBUS || sig == SIGFPE; }

/* Priorities up to 100 are reserved. With 101 this runs before Go's initialiser, which
 * has no priority. */
__attribute__((constructor(101))) static void before_go(void)
{
	sigset_t all;
	sigfillset(&all);
	if (JC_CONTROL == JC_NO_SIGNALS)
		sigemptyset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &host_mask);
	for (int sig = 1; sig < NSIG; sig++)
		host_known[sig] = sigaction(sig, NULL, &host_actions[sig]) == 0;
}

__attribute__((constructor)) static void after_go(void)
{
	for (int sig = 1; sig < NSIG; sig++) {
		struct sigaction now;
		if (JC_CONTROL == JC_NO_SIGNALS || !host_known[sig] || go_keeps(sig) || sigaction(sig, NULL, &now) != 0)
			continue;
		if (now.sa_handler != host_actions[sig].sa_handler || now.sa_flags != host_actions[sig].sa_flags)
			sigaction(sig, &host_actions[sig], NULL);
	}
	jc_library_open();
	pthread_sigmask(SIG_SETMASK, &host_mask, NULL);
}
