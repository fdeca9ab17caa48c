/* jitcache-observe runs a command and reports what the command and all that it starts look at:
 * which files and names, and what else a result can depend on. The program is installed beside
 * libjitcache.so, which starts it (observe/start.go).
 *
 * The tree is the command and all that it starts. A seccomp filter stops its processes at calls
 * that name files or that can make a result unrepeatable, and nowhere else. While a process is
 * stopped, the tracer looks at what the process is about to see. So the stamps in the report
 * are older than what the tree has read, and a later change shows. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "control.h"
#include "decider.h"
#include "filter.h"
#include "front.h"
#include "hermetic.h"
#include "keeper.h"
#include "look.h"
#include "names.h"
#include "notify.h"
#include "output.h"
#include "path.h"
#include "plain.h"
#include "process.h"
#include "report.h"
#include "request.h"
#include "round.h"
#include "shown.h"
#include "stop.h"
#include "trace.h"
#include "watch.h"
#include "written.h"

static jo_request request;
static pid_t command;
static int status;   /* of the command, as waitpid gives it */
static int reported; /* the report is written: the tracer runs only for processes that live on */

/* ---- the end */

static void finish(uint32_t flags)
{
	char done = 'd';
	jo_output_end();
	if (reported)
		return;
	reported = 1;
	jo_front_lost(jo_output_unsaid());
	jo_trace_quiet();
	jo_notify_end();
	jo_round_report(status, jo_child_failed(), flags);
	while (write(request.head.done, &done, 1) < 0 && errno == EINTR)
		;
}

/* let_go closes the descriptors that somebody may wait to see closed, and leaves the current
 * folder: the tracer may live longer than its host. */
static void let_go(void)
{
	DIR *d = opendir("/proc/self/fd");
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), keep = jo_notify_listener();
	for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
		int fd = atoi(e->d_name);
		if (e->d_name[0] != '.' && fd > 2 && fd != dirfd(d) && fd != null && fd != keep)
			close(fd);
	}
	for (int fd = 0; fd < 3 && null >= 0; fd++)
		dup2(null, fd);
	if (d != NULL)
		closedir(d);
	if (null > 2)
		close(null);
	if (chdir("/") != 0)
		return;
}

/* outlive is called when processes of the tree live on after the command. The tracer has to
 * live on too, because without it their calls would fail. It notes nothing more. */
static void outlive(void)
{
	jo_watch_unpin();
	jo_front_lives();
	finish(JO_OUTLIVED);
	jo_watch_stop();
	jo_keeper_leave();
	let_go();
}

/* ---- the command, watched */

enum { RUNS, NO_NOTICES, NOT_AT_ALL };

/* lost ends a child that has not reached its program, and returns why. The child still waits
 * for jo_child_go and must not get it. It might run the command before it is killed, and the
 * command would run a second time in its place. */
static int lost(int why)
{
	if (JO_WITHOUT(ONCE)) {
		jo_child_go('p');
		usleep(20000); /* without this the kill usually comes first */
	}
	kill(command, SIGKILL);
	for (int what = 0; waitpid(command, &what, __WALL) >= 0 || errno == EINTR;)
		;
	jo_child_failed();
	return why;
}

/* start starts the command: how is 'n' for notices, 't' for stops. */
static int start(char how)
{
	int sync = 0, listener = -1;
	command = jo_child_start(&request);
	if (command < 0)
		_exit(125);
	if (!jo_trace_seize(command))
		return lost(NOT_AT_ALL);
	jo_child_go(how);
	switch (jo_child_told(&listener)) {
	case 'l':
		if (!jo_notify_start(command, listener, &sync))
			return lost(NO_NOTICES);
		if (!sync)
			jo_watch_pin(command);
		jo_front_runs(command);
		jo_child_go('n');
		return RUNS;
	case 's':
		jo_front_runs(command);
		jo_watch_pin(command);
		return RUNS;
	default: return lost(NOT_AT_ALL);
	}
}

static void end_one(pid_t id) { kill(id, SIGKILL); }

/* end_tree ends all processes of the tree, and waits for that. Children of those that end first
 * become the tracer's, as process 1 may wait for nobody. */
static void end_tree(void)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	jo_notify_lock();
	jo_watch_unpin();
	jo_notify_end();
	jo_process_each(end_one);
	jo_process_forget();
	jo_notify_unlock();
	for (pid_t id; (id = waitpid(-1, NULL, __WALL)) > 0 || errno == EINTR;)
		if (id > 0)
			kill(id, SIGKILL); /* a process that was born meanwhile, and is stopped */
	prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
}

/* again ends a tree that needs more privileges than it could get, and drops its report and
 * output. Nothing outside has noticed the tree. */
static void again(void)
{
	end_tree();
	jo_child_failed();
	jo_report_drop();
	if (!jo_output_drop())
		_exit(125);
}

/* observe watches the command to its end. It returns 0 if it has to be run again
 * without a filter. */
static int observe(void)
{
	int ended = 0, repeat = 0;
	jo_process_born(jo_process_of(command, 1), NULL, 0);
	jo_process_of(command, 0)->group->cwd = strdup(request.folder);
	jo_look_begins(request.folder);
	while ((!ended || jo_processes() > 0) && !repeat) {
		int what = 0;
		pid_t id = waitpid(-1, &what, __WALL);
		if (id < 0 && errno == ECHILD)
			break;
		if (jo_keeper_gone() && !jo_round_leaves()) {
			if (id > 0)
				kill(id, SIGKILL); /* it may not be in the list yet */
			end_tree();
			_exit(125);
		}
		jo_notify_lock();
		if (jo_watch_tick())
			jo_trace_tick();
		if (id == command && !WIFSTOPPED(what)) {
			status = what;
			ended = 1;
			jo_front_ended(status);
			jo_watch_end(request.head.working_ms);
		}
		if (id > 0) {
			jo_watch_saw();
			jo_trace_event(id, what);
		}
		if (!reported && jo_processes() > 0 && jo_watch_over(jo_notify_waits))
			outlive();
		repeat = jo_trace_again();
		jo_notify_unlock();
	}
	return !repeat;
}

/* traced reports whether the tracer itself is traced: by strace, by gdb, or by another tracer of
 * jitcache. That program may trace the command too, and a process can have only one tracer. */
static int traced(void)
{
	char line[256];
	int by = 0;
	FILE *said = fopen("/proc/self/status", "re");
	while (said != NULL && fgets(line, sizeof line, said) != NULL)
		if (sscanf(line, "TracerPid: %d", &by) == 1)
			break;
	if (said != NULL)
		fclose(said);
	return by != 0;
}

/* watched runs the command under the tracer. It returns 0 if the command has to be run plain. */
static int watched(void)
{
	int how = NOT_AT_ALL;
	if ((request.head.flags & JO_PLAIN_RUN) || !jo_stop_known() || traced() || !jo_filter_make())
		return 0;
	/* A notice comes before the call, and the times are put into its answer. */
	if (jo_filter_notices() && (request.head.flags & (JO_STOPS_ONLY | JO_HERMETIC)) == 0)
		how = start('n');
	else
		how = NO_NOTICES;
	if (how == NO_NOTICES)
		how = start('t');
	if (how != RUNS)
		return 0;
	if (observe())
		return 1;
	again();
	return 0;
}

/* three opens /dev/null for each of the descriptors 0, 1 and 2 that the host has closed, so that
 * nothing else gets their numbers. */
static void three(void)
{
	int fd;
	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd < 3);
	if (fd >= 0)
		close(fd);
}

/* observe/find.go looks for the first line. Change it there and here with request.h and report.h. */
static const char protocol[] = "jitcache-observe: requests 2\n"
			       "jitcache starts this program. It is not meant to be started by hand.\n";

int main(int argc, char **argv)
{
	three();
	if ((argc != 2 && argc < 6) || !jo_request_read(atoi(argv[1]), &request)) {
		fputs(protocol, stderr);
		return 125;
	}
	if (argc > 2)
		jo_front_start(&request, argv + 2);
	jo_keeper_start();
	const jo_head *h = &request.head;
	int passes = (h->flags & JO_PASS) != 0;
	jo_report_open(h->report);
	jo_round_start((h->flags & JO_ROUNDS) != 0);
	jo_child_prepare(&request);
	jo_output_start(h->out, h->err, passes ? 1 : -1, passes ? 2 : -1, (h->flags & JO_TERMINALS) != 0);
	if (jo_output_terminals())
		jo_filter_terminal();
	if (h->flags & JO_HERMETIC) {
		jo_hermetic_start(h->second);
		jo_decider_names(request.deciders);
		jo_filter_times(jo_shown_stops);
	}
	jo_watch_timer(passes);
	uint32_t flags = 0;
	if (!watched() && !jo_front_plain()) {
		flags = JO_UNOBSERVED;
		command = jo_child_start(&request);
		if (command < 0)
			return 125;
		jo_child_go('p');
		status = jo_plain_wait(command);
	}
	jo_notify_lock();
	finish(flags);
	jo_notify_unlock();
	return 0;
}
