/* plain.c: runs the command without the tracer, and ends its children with it. */
#include "plain.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "keeper.h"
#include "watch.h"

void jo_plain_child(pid_t tracer)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (getppid() != tracer)
		_exit(125);
}

/* ---- a tree without a tracer */

typedef struct process {
	pid_t id, parent;
} process;

/* More processes than a machine runs. */
enum { DOOMED = 1 << 16 };

/* processes lists all processes of the machine. */
static process *processes(size_t *count)
{
	size_t room = 0, n = 0;
	process *all = NULL;
	DIR *d = opendir("/proc");
	for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
		char path[280];
		int id = 0, of = 0;
		snprintf(path, sizeof path, "/proc/%s/stat", e->d_name);
		FILE *stat = e->d_name[0] >= '1' && e->d_name[0] <= '9' ? fopen(path, "re") : NULL;
		/* The program's name in between may hold any character, even a newline or a bracket. The
		 * last closing bracket ends it. */
		if (stat == NULL)
			continue;
		char line[512] = {0}, *end = NULL;
		if (fread(line, 1, sizeof line - 1, stat) > 0)
			for (char *c = line; *c != 0; c++)
				end = *c == ')' ? c : end;
		fclose(stat);
		if (end == NULL || sscanf(line, "%d", &id) != 1 || sscanf(end + 1, " %*c %d", &of) != 1)
			continue;
		if (n == room)
			all = realloc(all, (room = room * 2 + 256) * sizeof *all);
		if (all == NULL)
			break;
		all[n++] = (process){id, of};
	}
	if (d != NULL)
		closedir(d);
	*count = all == NULL ? 0 : n;
	return all;
}

/* stop_tree stops all descendants of the count processes in doomed, and adds their ids to doomed.
 * It returns how many there are now. A process that has left its parents behind, as a daemon
 * does, is not found. */
static size_t stop_tree(pid_t *doomed, size_t count)
{
	size_t n, room = DOOMED;
	process *all = processes(&n);
	for (int more = 1; more;) {
		more = 0;
		for (size_t i = 0; i < n; i++) {
			int known = 0, below = 0;
			for (size_t j = 0; j < count; j++) {
				known |= doomed[j] == all[i].id;
				below |= doomed[j] == all[i].parent;
			}
			if (known || !below || count == room)
				continue;
			kill(all[i].id, SIGSTOP);
			doomed[count++] = all[i].id;
			more = 1;
		}
	}
	free(all);
	return count;
}

/* end_tree kills a child and all its descendants. It stops them first: a process that runs might
 * fork while the others are looked for. */
static void end_tree(pid_t child)
{
	static pid_t doomed[DOOMED];
	const struct timespec moment = {0, 1000000};
	size_t count = 1;
	doomed[0] = child;
	kill(child, SIGSTOP);
	for (int same = 0; same < 3; nanosleep(&moment, NULL)) {
		size_t before = count;
		count = stop_tree(doomed, count);
		same = count == before ? same + 1 : 0;
	}
	for (size_t i = 0; i < count; i++)
		kill(doomed[i], SIGKILL);
}

int jo_plain_wait(pid_t child)
{
	int status = 0;
	for (;;) {
		if (jo_keeper_gone()) {
			end_tree(child);
			_exit(125);
		}
		if (waitpid(child, &status, 0) == child)
			return status;
		if (errno != EINTR)
			return 125 << 8;
		jo_watch_tick();
	}
}
