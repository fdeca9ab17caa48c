/* start.c: how the library comes up without the host noticing that Go is
 * inside.
 *
 * The Go runtime starts in the library's own initialiser, when it is loaded.
 * Three things are done around that:
 *
 * - All signals are blocked. Go's threads inherit the mask, so the host's
 *   signals are never delivered to them. Go unblocks those of faults again; the
 *   overlay stops it from unblocking four others (UNBLOCKED in
 *   capi/overlay/runtimes.py).
 * - SIGPIPE and SIGURG are put back to what the host had. Go would turn an
 *   ignored SIGPIPE into a caught one, which exec'ed children see as default;
 *   and its SIGURG handler, with the preemption signal that belongs to it,
 *   makes PETSc abort the job. The library is linked with preemption off.
 * - Handlers that the host had installed lose the SA_ONSTACK that Go adds to
 *   them, unless the host had asked for it.
 */
#include <signal.h>
#include <stddef.h>

#include "controls.h"
#include "copy.h"

static sigset_t host_mask;
static struct sigaction host_actions[NSIG];
static unsigned char host_known[NSIG];

/* Go needs these: it turns a fault in Go code into a panic, which the library
 * survives, and passes on every other. */
static int go_keeps(int sig) { return sig == SIGSEGV || sig == SIGBUS || sig == SIGFPE; }

/* 101 is the first priority that is not the implementation's: this runs before
 * Go's initialiser, which has none. */
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
