/* process.c: the table of processes, and reads from and writes to their memory. */
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The processes, in no order: a tree has few at a time, and most often the one that was asked
 * for last is asked for again. */
static jo_process **all;
static int count, room, last;

/* A bit for each possible id. Pages of it that are never touched take no memory. */
enum { IDS = 1 << 22 };
static uint64_t was[IDS / 64];

int jo_process_was(pid_t id) { return id > 0 && id < IDS && (was[id / 64] >> (id % 64) & 1) != 0; }

jo_process *jo_process_of(pid_t id, int make)
{
	if (last < count && all[last]->id == id)
		return all[last];
	for (int i = 0; i < count; i++)
		if (all[i]->id == id)
			return all[last = i];
	if (!make)
		return NULL;
	if (count == room) {
		room = room == 0 ? 16 : room * 2;
		all = realloc(all, (size_t)room * sizeof *all);
	}
	jo_process *p = calloc(1, sizeof *p);
	if (all == NULL || p == NULL)
		_exit(125);
	p->id = id;
	if (id > 0 && id < IDS)
		was[id / 64] |= UINT64_C(1) << (id % 64);
	all[count] = p;
	return all[last = count++];
}

int jo_processes(void) { return count; }

void jo_process_each(void (*f)(pid_t id))
{
	for (int i = 0; i < count; i++)
		f(all[i]->id);
}

static char *same(const char *s)
{
	char *copy = s == NULL ? NULL : strdup(s);
	if (s != NULL && copy == NULL)
		_exit(125);
	return copy;
}

void jo_process_born(jo_process *p, const jo_process *parent, int thread)
{
	p->known = 1;
	p->placed |= parent != NULL && parent->placed;
	p->slept = parent != NULL ? parent->slept : 0;
	if (thread) {
		p->group = parent->group;
		p->group->threads++;
		return;
	}
	p->group = calloc(1, sizeof *p->group);
	if (p->group == NULL)
		_exit(125);
	p->group->threads = 1;
	p->group->memory = -1;
	p->group->program = -1;
	if (parent == NULL)
		return;
	p->group->child = 1;
	p->group->program = parent->group->program;
	p->group->counted = parent->group->counted;
	p->group->steps = parent->group->steps;
	p->group->begun = parent->group->begun;
	p->group->shell = parent->group->shell;
	p->group->clock = parent->group->clock;
	memcpy(p->group->asked, parent->group->asked, sizeof p->group->asked);
	p->group->cwd = same(parent->group->cwd);
	p->group->moved = parent->group->moved;
	p->group->exe = same(parent->group->exe);
}

static void close_memory(jo_group *g)
{
	if (g->memory >= 0)
		close(g->memory);
	g->memory = -1;
}

void jo_process_gone(pid_t id)
{
	for (int i = 0; i < count; i++) {
		jo_process *p = all[i];
		if (p->id != id)
			continue;
		if (p->group != NULL && --p->group->threads == 0) {
			close_memory(p->group);
			free(p->group->cwd);
			free(p->group->exe);
			free(p->group);
		}
		jo_pending_clear(&p->pending);
		free(p->expected);
		free(p);
		all[i] = all[--count];
		return;
	}
}

void jo_process_forget(void)
{
	while (count > 0)
		jo_process_gone(all[0]->id);
}

void jo_process_take_over(jo_process *p, pid_t before)
{
	jo_process *thread = jo_process_of(before, 0);
	if (thread != NULL) {
		p->placed = thread->placed;
		p->slept = thread->slept;
		p->shown = thread->shown; /* not those of a wait that execve has ended */
		p->expected_dev = thread->expected_dev;
		p->expected_ino = thread->expected_ino;
		free(p->expected);
		p->expected = thread->expected;
		thread->expected = NULL;
	}
	for (int i = count - 1; i >= 0; i--)
		if (all[i] != p && all[i]->group == p->group)
			jo_process_gone(all[i]->id);
}

void jo_process_exec(jo_process *p)
{
	static int begun;
	close_memory(p->group);
	p->group->counted = 0;
	p->group->begun = ++begun;
	memset(p->group->asked, 0, sizeof p->group->asked);
}

static int memory_of(jo_process *p)
{
	char path[64];
	if (p->group->memory < 0) {
		snprintf(path, sizeof path, "/proc/%d/mem", (int)p->id);
		p->group->memory = open(path, O_RDWR | O_CLOEXEC);
		if (p->group->memory < 0 && errno == EMFILE) {
			for (int i = 0; i < count; i++)
				if (all[i]->group != NULL)
					close_memory(all[i]->group);
			p->group->memory = open(path, O_RDWR | O_CLOEXEC);
		}
	}
	return p->group->memory;
}

ssize_t jo_process_string(jo_process *p, uint64_t at, char *into, size_t size)
{
	int fd = memory_of(p);
	size_t done = 0;
	while (fd >= 0 && done < size) {
		/* A step ends with its page, because the next page may not exist. Most paths are
		 * shorter than the first step. */
		size_t step = 4096 - (size_t)((at + done) & 4095);
		size_t most = done == 0 ? 256 : size - done;
		if (step > most)
			step = most;
		if (step > size - done)
			step = size - done;
		ssize_t n = pread(fd, into + done, step, (off_t)(at + done));
		if (n <= 0)
			return -1;
		char *end = memchr(into + done, 0, (size_t)n);
		if (end != NULL)
			return end - into;
		done += (size_t)n;
	}
	return fd < 0 ? -1 : (ssize_t)size;
}

int jo_process_read(jo_process *p, uint64_t at, void *into, size_t n)
{
	int fd = memory_of(p);
	return fd >= 0 && pread(fd, into, n, (off_t)at) == (ssize_t)n;
}

int jo_process_write(jo_process *p, uint64_t at, const void *from, size_t n)
{
	int fd = memory_of(p);
	return fd >= 0 && pwrite(fd, from, n, (off_t)at) == (ssize_t)n;
}

ssize_t jo_process_descriptor(const jo_process *p, int fd, char *into, size_t size)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)p->id, fd);
	ssize_t n = readlink(path, into, size - 1);
	if (n < 0)
		return errno == ENOENT ? -1 : -2;
	if (n == (ssize_t)size - 1)
		return -2;
	into[n] = 0;
	return n;
}

jo_status jo_process_status(const jo_process *p)
{
	jo_status found = {0, (uid_t)-1, (gid_t)-1, -1, -1};
	char path[64], line[256];
	snprintf(path, sizeof path, "/proc/%d/status", (int)p->id);
	FILE *status = fopen(path, "re");
	while (status != NULL && fgets(line, sizeof line, status) != NULL) {
		sscanf(line, "State: %c", &found.state);
		sscanf(line, "Uid: %*u %u", &found.user);
		sscanf(line, "Gid: %*u %u", &found.group);
		sscanf(line, "Tgid: %d", &found.process);
		sscanf(line, "PPid: %d", &found.parent);
	}
	if (status != NULL)
		fclose(status);
	return found;
}

void jo_pending_clear(jo_pending *p)
{
	free(p->path);
	free(p->real);
	free(p->real_from);
	*p = (jo_pending){0};
}
