/* jobserver.c: finds the job servers that a command has, and recognises the calls that use one. */
#include "jobserver.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/ptrace.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "control.h"
#include "filter.h"
#include "report.h"
#include "stop.h"
#include "use.h"

/* One for each of the variables, at most. */
static struct {
	dev_t dev;
	ino_t ino;
	const char *path; /* of a FIFO, else NULL */
} servers[3];
static int nservers;

/* ---- which there are */

static void add(const struct stat *st, const char *path)
{
	servers[nservers].dev = st->st_dev;
	servers[nservers].ino = st->st_ino;
	servers[nservers++].path = path;
}

/* is_end reports whether the command was given a descriptor that is an end of a pipe, and not only the other one. */
static int is_end(int fd, int other, struct stat *st)
{
	int flags = jo_use_given_number(fd) ? fcntl(fd, F_GETFL) : -1;
	return flags >= 0 && fstat(fd, st) == 0 && S_ISFIFO(st->st_mode) && (flags & O_ACCMODE) != other;
}

static void add_pipe(int reads, int writes)
{
	struct stat a, b;
	if (JO_WITHOUT(JOBSERVER) && fstat(reads, &a) == 0)
		add(&a, NULL);
	else if (is_end(reads, O_WRONLY, &a) && is_end(writes, O_RDONLY, &b) && a.st_dev == b.st_dev &&
		 a.st_ino == b.st_ino)
		add(&a, NULL);
}

static void add_fifo(const char *path)
{
	struct stat st;
	if (path[0] == '/' && lstat(path, &st) == 0 && S_ISFIFO(st.st_mode) && access(path, R_OK | W_OK) == 0)
		add(&st, path);
}

/* named adds the job server that the last word of a variable's value names. */
static void named(const char *value)
{
	static const char *const words[] = {"--jobserver-auth=", "--jobserver-fds="};
	const char *last = NULL;
	int reads, writes;
	for (int i = 0; i < 2; i++)
		for (const char *at = value; (at = strstr(at, words[i])) != NULL;) {
			at += strlen(words[i]);
			last = last == NULL || at > last ? at : last;
		}
	if (last != NULL && strncmp(last, "fifo:", 5) == 0)
		add_fifo(strndup(last + 5, strcspn(last + 5, " ")));
	else if (last != NULL && sscanf(last, "%d,%d", &reads, &writes) == 2)
		add_pipe(reads, writes);
}

void jo_jobserver_find(char *const *variables)
{
	static const char *const names[] = {"MAKEFLAGS=", "MFLAGS=", "CARGO_MAKEFLAGS="};
	for (int i = 0; i < 3 && jo_stop_tells_entries(); i++)
		for (char *const *v = variables; *v != NULL; v++)
			if (strncmp(*v, names[i], strlen(names[i])) == 0) {
				named(*v + strlen(names[i]));
				break;
			}
	if (nservers > 0)
		jo_filter_openings();
}

int jo_jobserver_is(const jo_process *p, int fd)
{
	char path[64];
	struct stat st;
	snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)p->id, fd);
	if (nservers == 0 || fd < 0 || stat(path, &st) != 0)
		return 0;
	for (int i = 0; i < nservers; i++)
		if (servers[i].dev == st.st_dev && servers[i].ino == st.st_ino)
			return 1;
	return 0;
}

/* is_at does the same for what a process names by a path. Any other name is that of a pipe like others. */
static int is_at(jo_process *p, uint64_t at)
{
	static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
	char path[256], *end;
	ssize_t n = jo_process_string(p, at, path, sizeof path);
	if (n <= 0 || n == sizeof path)
		return 0;
	for (int i = 0; i < nservers; i++)
		if (servers[i].path != NULL && strcmp(servers[i].path, path) == 0)
			return 1;
	for (int i = 0; i < 2; i++) {
		size_t length = strlen(folders[i]);
		if (strncmp(path, folders[i], length) != 0 || path[length] < '0' || path[length] > '9')
			continue;
		long fd = strtol(path + length, &end, 10);
		return *end == 0 && jo_jobserver_is(p, (int)fd);
	}
	return 0;
}

/* ---- what is done with one */

/* step has all threads of a process stopped at each call from now on. */
static const jo_process *opener;

static void interrupt(pid_t id)
{
	if (id != opener->id && jo_process_of(id, 0)->group == opener->group)
		jo_stop_request(PTRACE_INTERRUPT, id, 0, 0);
}

static void step(jo_process *p)
{
	if (p->group->steps || JO_WITHOUT(STEPS))
		return;
	p->group->steps = 1;
	opener = p;
	jo_process_each(interrupt);
}

static int is_path_empty(jo_process *p, uint64_t at)
{
	char first = 1;
	return at == 0 || (jo_process_read(p, at, &first, 1) && first == 0);
}

/* asks reports whether a call asks about a job server what all answer alike; it may set that it does not block. */
static int asks(jo_process *p, const jo_call *c, const uint64_t args[6])
{
	enum { FIONBIO = 0x5421 };
	switch (c->class) {
	case JO_CALL_LOOK:
		if (c->folder >= 0 && is_path_empty(p, args[c->path]))
			return jo_jobserver_is(p, (int)args[c->folder]);
		return is_at(p, args[c->path]);
	case JO_CALL_ACCESS: return is_at(p, args[c->path]);
	case JO_CALL_ASK: return jo_jobserver_is(p, (int)args[0]);
	case JO_CALL_EPOLL: return jo_jobserver_is(p, (int)args[2]);
	case JO_CALL_SEEK: return c->nr == SYS_lseek && jo_jobserver_is(p, (int)args[0]);
	case JO_CALL_FCNTL: return (args[1] == F_GETFD || args[1] == F_GETFL) && jo_jobserver_is(p, (int)args[0]);
	case JO_CALL_IOCTL:
		return (args[1] == JO_TCGETS || args[1] == JO_TCGETS2 || args[1] == FIONBIO) &&
		       jo_jobserver_is(p, (int)args[0]);
	default: return 0;
	}
}

/* opens reports whether a call opens one, or gives it a second number. */
static int opens(jo_process *p, const jo_call *c, const uint64_t args[6])
{
	switch (c->class) {
	case JO_CALL_OPEN:
	case JO_CALL_OPEN_AT: return (args[c->flags] & (O_CREAT | O_PATH)) == 0 && is_at(p, args[c->path]);
	case JO_CALL_DUP: return jo_jobserver_is(p, (int)args[0]);
	case JO_CALL_FCNTL:
		return (args[1] == F_DUPFD || args[1] == F_DUPFD_CLOEXEC) && jo_jobserver_is(p, (int)args[0]);
	default: return 0;
	}
}

int jo_jobserver_call(jo_process *p, const jo_call *c, const uint64_t args[6])
{
	if (nservers == 0)
		return 0;
	int opened = opens(p, c, args), token = c->nr == SYS_read || c->nr == SYS_write;
	if (!opened && !asks(p, c, args) && !(token && args[2] == 1 && jo_jobserver_is(p, (int)args[0])))
		return 0;
	if (opened)
		step(p);
	jo_use(p, JO_USE_JOBSERVER, NULL);
	return 1;
}

/* touches reports whether a call is about a number of a job server that the filter does not watch. */
static int touches(const jo_process *p, enum jo_class class, const uint64_t args[6])
{
	int first = 0, second = -1;
	switch (class) {
	case JO_CALL_READ:
	case JO_CALL_WRITE:
	case JO_CALL_SEEK:
	case JO_CALL_IOCTL:
	case JO_CALL_DUP: break;
	case JO_CALL_SEND: second = 1; break;
	case JO_CALL_SPLICE: second = 2; break;
	case JO_CALL_FCNTL:
		if (args[1] == F_DUPFD || args[1] == F_DUPFD_CLOEXEC || args[1] == F_GETPIPE_SZ)
			break;
		return 0;
	default: return 0;
	}
	int fd = (int)args[first];
	if (!jo_use_given_number(fd) && jo_jobserver_is(p, fd))
		return 1;
	return second >= 0 && jo_jobserver_is(p, (int)args[second]);
}

void jo_jobserver_entered(jo_process *p, long nr, const uint64_t args[6])
{
	const jo_call *c = jo_call_of(nr);
	if (c != NULL && touches(p, (enum jo_class)c->class, args) && !jo_jobserver_call(p, c, args))
		jo_use(p, JO_USE_DESCRIPTOR, "job server");
}

void jo_jobserver_executed(jo_process *p)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/fd", (int)p->id);
	DIR *d = p->group->steps ? opendir(path) : NULL;
	if (d == NULL)
		return;
	p->group->steps = 0;
	for (const struct dirent *e; (e = readdir(d)) != NULL;)
		if (e->d_name[0] != '.' && !jo_use_given_number(atoi(e->d_name)) && jo_jobserver_is(p, atoi(e->d_name)))
			p->group->steps = 1;
	closedir(d);
}
