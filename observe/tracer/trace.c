/* trace.c: waits for events, and handles births, stops and ends of processes. */
#include "trace.h"

#include <errno.h>
#include <linux/ptrace.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "calls.h"
#include "change.h"
#include "control.h"
#include "execute.h"
#include "handle.h"
#include "hermetic.h"
#include "jobserver.h"
#include "notify.h"
#include "output.h"
#include "process.h"
#include "report.h"
#include "shown.h"
#include "stop.h"
#include "use.h"
#include "walk.h"
#include "watch.h"
#include "written.h"

static int quiet;

void jo_trace_quiet(void) { quiet = 1; }

int jo_trace_again(void)
{
	return jo_execute_privileged() && !jo_wrote_any() && !jo_use_outside() && !jo_output_passed() && !quiet;
}

int jo_trace_seize(pid_t id)
{
	unsigned long options = PTRACE_O_TRACESECCOMP | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE |
	                        PTRACE_O_TRACEEXEC | PTRACE_O_TRACESYSGOOD;
	if (!JO_WITHOUT(KILL))
		options |= PTRACE_O_EXITKILL;
	return jo_stop_request(PTRACE_SEIZE, id, 0, options) == 0;
}

static void go_on(long how, pid_t id, int signal)
{
	/* ESRCH: the process was killed meanwhile, and waitpid will tell. */
	jo_stop_request(how, id, 0, (unsigned long)signal);
}

/* resume lets a process go on to its next stop. */
static void resume(const jo_process *p, int signal)
{
	int steps = p->group != NULL && p->group->steps && !quiet;
	go_on(steps ? PTRACE_SYSCALL : PTRACE_CONT, p->id, signal);
}

static void on_filter(jo_process *p)
{
	int wants = JO_GO_ON;
	jo_stop s = jo_stop_filter(p->id);
	p->code = s.code;
	if (s.where == JO_AT_FILTER && (s.foreign || jo_class_of(s.number) == JO_CALL_AFFINITY))
		jo_watch_asked(p, s.foreign ? 0 : (pid_t)s.arguments[0]);
	if (!quiet && s.where == JO_AT_FILTER && s.foreign)
		jo_use(p, JO_USE_FOREIGN, NULL);
	else if (!quiet && s.where == JO_AT_FILTER)
		wants = jo_hermetic() ? jo_shown_call(p, &s) : jo_handle_call(p, s.number, s.arguments);
	else if (!quiet && s.where != JO_GONE)
		jo_use(p, JO_USE_UNREADABLE, "a system call");
	if (jo_use_blind())
		jo_watch_unpin(); /* the tracer no longer looks at what the tree reads, perhaps which CPUs it has */
	if (jo_trace_again())
		return; /* it stays stopped: the tree will be run again */
	if (wants == JO_BROKEN_PIPE && jo_stop_refuse(p->id, EPIPE))
		syscall(SYS_tkill, p->id, SIGPIPE);
	if (wants == JO_ANSWERED)
		jo_stop_refuse(p->id, 0);
	if (wants == JO_WAIT_FOR_END)
		go_on(PTRACE_SYSCALL, p->id, 0);
	else
		resume(p, 0);
}

static void on_end_of_call(jo_process *p)
{
	jo_stop s = jo_stop_end(p->id);
	if (s.where == JO_AT_ENTRY) {
		if (!quiet && !jo_use_blind())
			jo_jobserver_entered(p, s.number, s.arguments);
		go_on(PTRACE_SYSCALL, p->id, 0);
		return;
	}
	jo_shown_left(p, s.where == JO_AT_EXIT ? s.result : -1);
	if (!quiet)
		jo_change_result(p, s.where == JO_AT_EXIT ? s.result : -1);
	resume(p, 0);
}

/* begin lets a process go on once it is known. */
static void begin(jo_process *p)
{
	jo_watch_born(p->id);
	if (p->stopped)
		resume(p, 0);
	p->stopped = 0;
}

static void on_birth(jo_process *parent)
{
	unsigned long id = 0;
	char path[64];
	if (jo_stop_request(PTRACE_GETEVENTMSG, parent->id, 0, (unsigned long)&id) == 0 && kill((pid_t)id, 0) == 0) {
		snprintf(path, sizeof path, "/proc/%d/task/%lu", (int)parent->id, id);
		jo_process *child = jo_process_of((pid_t)id, 1);
		if (!child->known) {
			jo_process_born(child, parent, access(path, F_OK) == 0);
			begin(child);
		}
	}
	resume(parent, 0);
}

/* end_walk is called before a process or thread is gone. */
static void end_walk(pid_t id)
{
	jo_process *p = jo_process_of(id, 0);
	if (p != NULL)
		jo_walk_end(p);
}

static void on_exec(jo_process *p)
{
	unsigned long before = 0;
	/* A thread that runs a program takes over the process's id. */
	jo_stop_request(PTRACE_GETEVENTMSG, p->id, 0, (unsigned long)&before);
	if ((pid_t)before != p->id) {
		jo_process_each(end_walk);
		jo_process_take_over(p, (pid_t)before);
	}
	if (!quiet)
		jo_execute_done(p, jo_stop_program(p->id).stack);
	jo_jobserver_executed(p);
	if (jo_use_blind())
		jo_watch_unpin();
	resume(p, 0);
}

static void on_signal(jo_process *p, int signal)
{
	jo_stop s;
	if (jo_notify_listener() >= 0 && jo_stop_interrupted(p->id, &s) &&
		jo_handle_interrupted(p, s.number, s.arguments))
		jo_stop_restart(p->id);
	resume(p, signal);
}

static void on_stop(jo_process *p, int what)
{
	int signal = WSTOPSIG(what);
	switch (what >> 16) {
	case PTRACE_EVENT_SECCOMP: on_filter(p); return;
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
	case PTRACE_EVENT_CLONE: on_birth(p); return;
	case PTRACE_EVENT_EXEC: on_exec(p); return;
	case PTRACE_EVENT_STOP:
		/* A signal has stopped the whole process: it stays stopped. */
		if (signal == SIGTRAP)
			resume(p, 0);
		else
			go_on(PTRACE_LISTEN, p->id, 0);
		return;
	default: break;
	}
	if (signal == (SIGTRAP | 0x80))
		on_end_of_call(p);
	else
		on_signal(p, signal);
}

void jo_trace_event(pid_t id, int what)
{
	if (!WIFSTOPPED(what)) {
		end_walk(id);
		jo_process_gone(id);
		return;
	}
	jo_process *p = jo_process_of(id, 1);
	if (p->known) {
		on_stop(p, what);
		return;
	}
	p->stopped = 1; /* it came before its parent's event, and waits for that */
	jo_watch_wait();
}

/* ---- processes whose parent's event does not come
 *
 * If a process is killed while it forks, there may be a child but no event. */

/* For how many ticks a process waits if its parent still seems to exist. It may not: when a parent
 * dies, another process of the tree can become the parent (PR_SET_CHILD_SUBREAPER). If a parent does
 * exist and its event takes longer than that, a result that could have been kept is lost. */
enum { PATIENCE = 20 };

/* take_in lets a process that waits in vain go on, as one about which nothing is known. A thread
 * gets all that matters from its process. */
static void take_in(pid_t id)
{
	jo_process *p = jo_process_of(id, 0);
	if (p->known || !p->stopped)
		return;
	jo_status is = jo_process_status(p);
	jo_process *kin = jo_process_of(is.process == id ? is.parent : is.process, 0);
	int there = is.process == -1 || is.parent == getpid() || (kin != NULL && kin->known);
	if (JO_WITHOUT(ORPHANS) || (there && p->stopped++ <= PATIENCE)) {
		jo_watch_wait();
		return;
	}
	if (is.process != id && kin != NULL && kin->known) {
		jo_process_born(p, kin, 1);
	} else {
		jo_process_born(p, NULL, 0);
		p->group->child = 1;
		p->group->cwd = strdup(""); /* that of its parent, which is unknown */
		if (!quiet)
			jo_use(p, JO_USE_UNREADABLE, "the parent of a process");
	}
	begin(p);
}

void jo_trace_tick(void) { jo_process_each(take_in); }
