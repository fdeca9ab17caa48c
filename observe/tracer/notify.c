/* notify.c: reads the notices, and answers each call or lets it continue. */
#include "notify.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "control.h"
#include "handle.h"
#include "watch.h"

/* These are of Linux 5.0, 5.5, 6.6, 5.3 and 5.6. Some machines have older headers. */
#ifndef SECCOMP_IOCTL_NOTIF_RECV
#error "headers of Linux 5.0 or later are needed"
#endif
#ifndef SECCOMP_USER_NOTIF_FLAG_CONTINUE
#define SECCOMP_USER_NOTIF_FLAG_CONTINUE 1UL
#endif
#define SET_FLAGS _IOW('!', 4, uint64_t)
#define SYNC_WAKE_UP UINT64_C(1)
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#define PIDFD_GETFD 438

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int notices = -1;
static int ended; /* the report is written */

void jo_notify_lock(void) { pthread_mutex_lock(&lock); }
void jo_notify_unlock(void) { pthread_mutex_unlock(&lock); }
void jo_notify_end(void) { ended = 1; }

static int handle(const struct seccomp_notif *n)
{
	int known = JO_GO_ON;
	pthread_mutex_lock(&lock);
	jo_process *p = ended ? NULL : jo_process_of((pid_t)n->pid, 0);
	if (p != NULL && p->known) {
		p->code = n->data.instruction_pointer;
		known = jo_handle_call(p, n->data.nr, (const uint64_t *)n->data.args);
	}
	pthread_mutex_unlock(&lock);
	return known;
}

/* over reports whether the filter has no process any more. The kernel says ENOENT both then, and at
 * once each time, and for a notice whose process was killed before it was read. It waits for what
 * comes next: a notice, or the end of the last process. (Before Linux 5.9 no end is told, and this
 * waits until the program ends.) */
static int over(void)
{
	struct pollfd p = {.fd = notices, .events = POLLIN};
	return !JO_WITHOUT(OVER) && poll(&p, 1, -1) > 0 && (p.revents & POLLHUP) != 0;
}

static void *serve(void *unused)
{
	/* The kernel's structures may be larger than those of the headers. */
	static union {
		struct seccomp_notif notice;
		char room[512];
	} n;
	static union {
		struct seccomp_notif_resp answer;
		char room[512];
	} a;
	(void)unused;
	for (;;) {
		memset(&n, 0, sizeof n);
		if (ioctl(notices, SECCOMP_IOCTL_NOTIF_RECV, &n.notice) != 0) {
			if (errno == EINTR || (errno == ENOENT && !over()))
				continue;
			return NULL;
		}
		jo_watch_saw();
		int result = handle(&n.notice);
		memset(&a, 0, sizeof a);
		a.answer.id = n.notice.id;
		a.answer.error = result < 0 ? result : 0;
		a.answer.flags = result < 0 || result == JO_ANSWERED ? 0 : SECCOMP_USER_NOTIF_FLAG_CONTINUE;
		ioctl(notices, SECCOMP_IOCTL_NOTIF_SEND, &a.answer);
	}
}

/* start_thread starts the thread with all signals blocked: they must reach the other thread,
 * where they interrupt waitpid. */
static int start_thread(void)
{
	pthread_t thread;
	sigset_t all, old;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	int ok = pthread_create(&thread, NULL, serve, NULL) == 0;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return ok;
}

int jo_notify_listener(void) { return notices; }

int jo_notify_waits(void)
{
	struct pollfd p = {.fd = notices, .events = POLLIN};
	return notices >= 0 && poll(&p, 1, 0) > 0 && (p.revents & POLLIN) != 0;
}

int jo_notify_start(pid_t child, int listener, int *sync)
{
	int process = (int)syscall(SYS_pidfd_open, child, 0);
	notices = process < 0 ? -1 : (int)syscall(PIDFD_GETFD, process, listener, 0);
	if (process >= 0)
		close(process);
	if (notices < 0)
		return 0;
	*sync = ioctl(notices, SET_FLAGS, SYNC_WAKE_UP) == 0;
	return start_thread();
}
