/* jitcache-observe runs a command and reports what it and all that it starts look
 * at: which files and names, and what else a result can depend on. It stands
 * beside libjitcache.so, which starts it; observe/start.go says how.
 *
 * The tree stops, by a seccomp filter, at calls that name files or that can make
 * a result unrepeatable, and nowhere else. While a process stands still, what it
 * is about to see is looked at: so the stamps in the report are older than what
 * the tree has read, and a later change shows. */
#include <errno.h>
#include <fcntl.h>
#include <linux/ptrace.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "child.h"
#include "execute.h"
#include "filter.h"
#include "handle.h"
#include "look.h"
#include "names.h"
#include "notify.h"
#include "output.h"
#include "process.h"
#include "report.h"
#include "request.h"
#include "round.h"
#include "watch.h"

enum {
	OPTIONS = PTRACE_O_TRACESECCOMP | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE |
		  PTRACE_O_TRACEEXEC | PTRACE_O_TRACESYSGOOD,
	/* How long what is left of the tree may take to end after the command. */
	GRACE_MS = 200,
};

static jo_request request;
static pid_t command;
static int status;       /* of the command, as waitpid gives it */
static int ended;        /* the command has */
static int failure;      /* of jo_child_failed */
static int reported;     /* nothing is noted any more */
static int started_once; /* the command's program runs */

/* glibc's own header has not everything, and does not go with the kernel's. */
static long trace(long what, pid_t id, unsigned long size, unsigned long data)
{
	return syscall(SYS_ptrace, what, id, size, data);
}

/* call_of asks at which call a process stands. */
static struct ptrace_syscall_info call_of(pid_t id)
{
	struct ptrace_syscall_info info = {0};
	if (trace(PTRACE_GET_SYSCALL_INFO, id, sizeof info, (unsigned long)&info) <= 0)
		info.op = PTRACE_SYSCALL_INFO_NONE;
	return info;
}

static void go_on(long how, pid_t id, int signal)
{
	/* ESRCH: it was killed meanwhile, and waitpid tells. */
	trace(how, id, 0, (unsigned long)signal);
}

/* ---- stops */

static void on_filter(jo_process *p)
{
	int wait_for_end = 0;
	struct ptrace_syscall_info info = call_of(p->id);
	if (!reported && info.op == PTRACE_SYSCALL_INFO_SECCOMP) {
		if (info.seccomp.ret_data == JO_STOP_FOREIGN)
			jo_look_used(p, JO_USE_FOREIGN, NULL);
		else
			wait_for_end = jo_handle_call(p, (long)info.seccomp.nr, (const uint64_t *)info.seccomp.args);
	}
	go_on(wait_for_end == 1 ? PTRACE_SYSCALL : PTRACE_CONT, p->id, 0);
}

static void on_end_of_call(jo_process *p)
{
	struct ptrace_syscall_info info = call_of(p->id);
	if (info.op == PTRACE_SYSCALL_INFO_ENTRY) {
		go_on(PTRACE_SYSCALL, p->id, 0); /* of an older kernel, after the filter's stop */
		return;
	}
	if (!reported)
		jo_handle_result(p, info.op == PTRACE_SYSCALL_INFO_EXIT ? info.exit.rval : -1);
	go_on(PTRACE_CONT, p->id, 0);
}

static void on_birth(jo_process *parent)
{
	unsigned long id = 0;
	char path[64];
	trace(PTRACE_GETEVENTMSG, parent->id, 0, (unsigned long)&id);
	snprintf(path, sizeof path, "/proc/%d/task/%lu", (int)parent->id, id);
	jo_process *child = jo_process_of((pid_t)id, 1);
	if (!child->known) {
		jo_process_born(child, parent, access(path, F_OK) == 0);
		if (child->stopped)
			go_on(PTRACE_CONT, child->id, 0);
		child->stopped = 0;
	}
	go_on(PTRACE_CONT, parent->id, 0);
}

static void on_exec(jo_process *p)
{
	unsigned long before = 0;
	/* A thread that runs a program takes over the process's id. */
	trace(PTRACE_GETEVENTMSG, p->id, 0, (unsigned long)&before);
	if ((pid_t)before != p->id)
		jo_process_take_over(p, (pid_t)before);
	if (p->id == command && !started_once) {
		started_once = 1;
		failure = jo_child_failed();
	}
	if (!reported)
		jo_execute_done(p, call_of(p->id).stack_pointer);
	go_on(PTRACE_CONT, p->id, 0);
}

static void on_stop(jo_process *p, int stopped)
{
	int signal = WSTOPSIG(stopped);
	switch (stopped >> 16) {
	case PTRACE_EVENT_SECCOMP: on_filter(p); return;
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
	case PTRACE_EVENT_CLONE: on_birth(p); return;
	case PTRACE_EVENT_EXEC: on_exec(p); return;
	case PTRACE_EVENT_STOP:
		/* Stopped by a signal, with all of its process, it stays so. */
		go_on(signal == SIGTRAP ? PTRACE_CONT : PTRACE_LISTEN, p->id, 0);
		return;
	default: break;
	}
	if (signal == (SIGTRAP | 0x80))
		on_end_of_call(p);
	else
		go_on(PTRACE_CONT, p->id, signal);
}

/* ---- the end */

static void finish(uint32_t flags)
{
	char done = 'd';
	jo_output_pass();
	if (reported)
		return;
	reported = 1;
	jo_notify_end();
	jo_round_report(status, failure, flags);
	while (write(request.head.done, &done, 1) < 0 && errno == EINTR)
		;
}

/* release lets a process of the tree live when the tracer ends. */
static void release(pid_t id) { trace(PTRACE_SETOPTIONS, id, 0, OPTIONS); }

/* outlive: processes of the tree go on. The tracer has to as well, for without it
 * their calls would fail, and notes nothing more. */
static void outlive(void)
{
	jo_watch_unpin();
	finish(JO_OUTLIVED);
	jo_watch_host(0, -1);
	jo_process_each(release);
	if (request.head.flags & JO_HELD) { /* whose end would be the tracer's */
		prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0);
		kill(getppid(), SIGKILL);
	}
	close(request.head.report);
	close(request.head.done);
	close(request.head.out);
	close(request.head.err);
}

static int64_t now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000) + t.tv_nsec / 1000000;
}

/* restart ends a tree that could not have worked, and runs the command again,
 * plain: nothing has been seen of it outside. */
static void restart(void)
{
	kill(command, SIGKILL);
	for (pid_t id; (id = waitpid(-1, NULL, __WALL)) > 0 || errno == EINTR;)
		jo_process_gone(id);
	if (ftruncate(request.head.out, 0) != 0 || ftruncate(request.head.err, 0) != 0)
		_exit(125);
}

/* one takes what waitpid has said of one process, id -1 if it was interrupted. It
 * returns 0 when there is nothing more to wait for. */
static int one(pid_t id, int what)
{
	static int64_t since;
	if (id > 0 && WIFSTOPPED(what)) {
		jo_process *p = jo_process_of(id, 1);
		if (p->known)
			on_stop(p, what);
		else
			p->stopped = 1; /* before its parent's event: it waits */
	} else if (id > 0) {
		if (id == command) {
			status = what;
			ended = 1;
			since = now_ms();
			jo_watch_timer(0);
		}
		jo_process_gone(id);
	}
	if (ended && !reported && jo_processes() > 0 && now_ms() - since > GRACE_MS)
		outlive();
	return !ended || jo_processes() > 0;
}

/* observe runs the command and returns 0 if it has to be run again, plain. */
static int observe(void)
{
	jo_process_born(jo_process_of(command, 1), NULL, 0);
	jo_process_of(command, 0)->group->cwd = strdup(request.folder);
	for (int going = 1; going;) {
		int what = 0;
		pid_t id = waitpid(-1, &what, __WALL);
		if (id < 0 && errno == ECHILD)
			break;
		jo_notify_lock();
		if (id < 0)
			jo_watch_tick();
		going = one(id, what);
		int again = jo_execute_privileged() && !jo_wrote_any() && !reported;
		jo_notify_unlock();
		if (again) {
			restart();
			return 0;
		}
	}
	if (!started_once)
		failure = jo_child_failed();
	return 1;
}

/* let_go lets the command run, with notices if they can be had. It returns 0 if
 * the child was lost over that. */
static int let_go(void)
{
	int sync = 0;
	jo_child_go((request.head.flags & JO_STOPS_ONLY) ? 't' : 'n');
	int listener = (request.head.flags & JO_STOPS_ONLY) ? -1 : jo_child_listener();
	if (listener >= 0 && !jo_notify_start(command, listener, &sync)) {
		jo_child_go('p');
		while (waitpid(command, NULL, __WALL) < 0 && errno == EINTR)
			;
		return 0;
	}
	if (!sync)
		jo_watch_pin(command);
	if (listener >= 0)
		jo_child_go('n');
	return 1;
}

static void plain(void)
{
	while (waitpid(command, &status, 0) < 0 && errno == EINTR)
		jo_watch_tick();
	failure = jo_child_failed();
}

int main(int argc, char **argv)
{
	if (argc != 2 || !jo_request_read(atoi(argv[1]), &request)) {
		fputs("jitcache-observe: started by libjitcache.so, not by hand\n", stderr);
		return 125;
	}
	const jo_head *h = &request.head;
	int watched = (h->flags & JO_PLAIN_RUN) == 0, passes = (h->flags & JO_PASS) != 0;
	uint32_t flags = 0;
	jo_report_open(h->report);
	jo_round_start((h->flags & JO_ROUNDS) != 0);
	jo_child_prepare(&request);
	jo_output_start(h->out, h->err, passes ? 1 : -1, passes ? 2 : -1);
	watched = watched && jo_filter_make();
	command = jo_child_start(&request);
	if (command < 0)
		return 125;
	watched = watched && trace(PTRACE_SEIZE, command, 0, OPTIONS | PTRACE_O_EXITKILL) == 0;
	if (watched && !let_go()) {
		jo_child_failed();
		command = jo_child_start(&request);
		watched = trace(PTRACE_SEIZE, command, 0, OPTIONS | PTRACE_O_EXITKILL) == 0;
		jo_watch_pin(command);
		jo_child_go('t');
	}
	jo_watch_host(h->host, h->done);
	jo_watch_timer(passes);
	if (watched && !observe()) {
		watched = 0;
		command = jo_child_start(&request);
	}
	if (!watched)
		jo_child_go('p');
	if (!watched) {
		jo_watch_unpin();
		plain();
		flags = JO_UNOBSERVED;
	}
	jo_notify_lock();
	finish(flags);
	jo_notify_unlock();
	return 0;
}
