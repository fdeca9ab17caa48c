#include "plain.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
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
	int doomed;
} process;

/* processes lists all that there are. */
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
		/* The name in between may hold anything: the last bracket ends it. */
		if (stat == NULL)
			continue;
		char line[512] = {0}, *end = NULL;
		if (fgets(line, sizeof line, stat) != NULL)
			for (char *c = line; *c != 0; c++)
				end = *c == ')' ? c : end;
		fclose(stat);
		if (end == NULL || sscanf(line, "%d", &id) != 1 || sscanf(end + 1, " %*c %d", &of) != 1)
			continue;
		if (n == room)
			all = realloc(all, (room = room * 2 + 256) * sizeof *all);
		if (all == NULL)
			break;
		all[n++] = (process){id, of, 0};
	}
	if (d != NULL)
		closedir(d);
	*count = all == NULL ? 0 : n;
	return all;
}

/* end_tree ends a child and all that descends from it. What has left its parents
 * behind, as a daemon does, is no longer known to. */
static void end_tree(pid_t child)
{
	size_t n;
	process *all = processes(&n);
	for (int more = 1; more;) {
		more = 0;
		for (size_t i = 0; i < n; i++) {
			int doomed = all[i].id == child;
			for (size_t j = 0; j < n && !doomed; j++)
				doomed = all[j].doomed && all[j].id == all[i].parent;
			more |= doomed && !all[i].doomed;
			all[i].doomed |= doomed;
		}
	}
	for (size_t i = 0; i < n; i++)
		if (all[i].doomed)
			kill(all[i].id, SIGKILL);
	free(all);
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
