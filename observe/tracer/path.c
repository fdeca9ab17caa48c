/* path.c: reads a path from a process's memory, and makes it absolute. */
#include "path.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "control.h"
#include "look.h"
#include "names.h"
#include "report.h"
#include "use.h"
#include "watch.h"

/* ---- what /proc and /dev tell about the processes of the tree */

/* cleaned copies a path without doubled slashes and single dots. It returns 0 if the path is
 * longer than any that matters here. */
static int cleaned(const char *path, char *into, size_t size)
{
	size_t n = 0;
	while (*path != 0) {
		while (*path == '/')
			path++;
		size_t part = strcspn(path, "/");
		if (part == 0 || (part == 1 && *path == '.')) {
			path += part;
			continue;
		}
		if (n + part + 2 > size)
			return 0;
		into[n++] = '/';
		memcpy(into + n, path, part);
		n += part;
		path += part;
	}
	into[n] = 0;
	return 1;
}

/* after returns what follows a prefix in a path: nothing, or a slash and more. It returns NULL if
 * the path is not at or below the prefix. */
static const char *after(const char *path, const char *prefix)
{
	size_t n = strlen(prefix);
	return strncmp(path, prefix, n) == 0 && (path[n] == '/' || path[n] == 0) ? path + n : NULL;
}

/* whose finds out whether a path leads into the folder of a process in /proc. If so, *q is the
 * process, NULL for one outside the tree, and *rest is what follows its folder. whose returns 0
 * for any other path. */
static int whose(const jo_process *p, const char *path, const jo_process **q, const char **rest)
{
	*q = p;
	if ((*rest = after(path, "/proc/self")) == NULL && (*rest = after(path, "/proc/thread-self")) == NULL) {
		char *end;
		if (strncmp(path, "/proc/", 6) != 0)
			return 0;
		long id = strtol(path + 6, &end, 10);
		if (end == path + 6 || (*end != 0 && *end != '/'))
			return 0;
		*rest = end;
		*q = jo_process_of((pid_t)id, 0);
		if (*q != NULL && (*q)->group == NULL)
			*q = p;
	}
	if (strncmp(*rest, "/task/", 6) == 0 && strchr(*rest + 6, '/') != NULL)
		*rest = strchr(*rest + 6, '/');
	return 1;
}

/* becomes makes the path out of a folder or file, base, and what follows it, rest. */
static int becomes(jo_path *into, const char *base, const char *rest, uint32_t form)
{
	char text[JO_PATH];
	if (base[0] == 0 ||
		snprintf(text, sizeof text, "%s%s", base[1] == 0 && *rest != 0 ? "" : base, rest) >= (int)sizeof text)
		return JO_NOWHERE;
	strcpy(into->text, text);
	into->form = form;
	into->rooted = 0;
	return JO_SOMETHING;
}

/* gone reports whether a link of /proc gives the name of a file that was removed, or that never
 * had a name. */
static int gone(const char *real)
{
	static const char mark[] = " (deleted)";
	size_t n = strlen(real);
	return n > sizeof mark && strcmp(real + n - (sizeof mark - 1), mark) == 0 && jo_real_type(real, 0) == 0;
}

/* descriptor handles a path that goes through a descriptor of q. */
static int descriptor(jo_process *p, const jo_process *q, const char *number, int follow, jo_path *into)
{
	char real[JO_PATH], *rest;
	uint32_t form;
	int fd = (int)strtol(number, &rest, 10);
	jo_use_inherited(q, fd);
	ssize_t n = jo_process_descriptor(q, fd, real, sizeof real);
	if (n == -2)
		jo_use(p, JO_USE_UNREADABLE, "descriptors");
	snprintf(into->text, sizeof into->text, "/proc/%d/fd/%d", (int)q->id, fd);
	if (n < 0 || real[0] != '/' || gone(real))
		return JO_OF_TREE;
	if (*rest == 0 && !follow) { /* a call may read the link's text, which is a path without links */
		jo_look_ways(p, q, fd);
		return JO_OF_TREE;
	}
	const char *name = jo_name_folder(real, &form);
	return becomes(into, name, rest, form);
}

static int of_process(jo_process *p, const jo_process *q, const char *rest, int follow, jo_path *into)
{
	const jo_group *g = q->group;
	const char *more;
	if (strcmp(rest, "/status") == 0) {
		jo_watch_unpin(); /* it tells which CPUs the process may use */
		jo_use(p, JO_USE_UMASK, NULL);
	} else if ((more = after(rest, "/cwd")) != NULL) {
		if (*more != 0 || follow)
			return becomes(into, g->cwd, more, g->moved ? JO_ABSOLUTE : JO_RELATIVE);
		jo_look_here(p, g);
	} else if ((more = after(rest, "/root")) != NULL) {
		if (*more != 0 || follow)
			return becomes(into, "/", more, JO_ABSOLUTE);
	} else if ((more = after(rest, "/exe")) != NULL) {
		if (g->exe != NULL && follow)
			return becomes(into, g->exe, more, JO_ABSOLUTE);
		if (g->exe != NULL)
			jo_look_where(p, g->exe);
	} else if (strcmp(rest, "/maps") == 0 || strcmp(rest, "/smaps") == 0) {
		if (g->exe != NULL)
			jo_look_where(p, g->exe); /* it tells the program's path too */
	} else if (strcmp(rest, "/limits") == 0) {
		jo_use(p, JO_USE_LIMITS, NULL); /* all limits */
	} else if (strncmp(rest, "/fd/", 4) == 0 && rest[4] >= '0' && rest[4] <= '9') {
		return descriptor(p, q, rest + 4, follow, into);
	}
	if (strstr(rest, "/..") != NULL)
		jo_use(p, JO_USE_UNKNOWN, into->text);
	else
		jo_use_told(p, rest, into->text);
	return JO_OF_TREE;
}

/* special handles paths that mean something different for each process. */
static int special(jo_process *p, jo_path *path, int follow)
{
	char clean[JO_PATH];
	const jo_process *q;
	const char *rest;
	static const char *const standard[] = {"/dev/stdin", "/dev/stdout", "/dev/stderr"};
	if (!cleaned(path->text, clean, sizeof clean))
		return JO_SOMETHING;
	for (int i = 0; i < 3; i++)
		if (strcmp(clean, standard[i]) == 0) {
			char number[2] = {(char)('0' + i), 0};
			return follow ? descriptor(p, p, number, 1, path) : JO_OF_TREE;
		}
	if ((rest = after(clean, "/dev/fd")) != NULL) {
		char same[JO_PATH];
		snprintf(same, sizeof same, "/fd%.*s", (int)sizeof same - 4, rest);
		return of_process(p, p, same, follow, path);
	}
	if (!whose(p, clean, &q, &rest))
		return JO_SOMETHING;
	if (q == NULL) {
		jo_use(p, JO_USE_TRACE, path->text);
		return JO_OF_TREE;
	}
	return of_process(p, q, rest, follow, path);
}

/* ---- what a call names */

/* of_folder returns the name of the current folder of a process, NULL if the folder has no name
 * by which the path relative could be reached. */
static const char *of_folder(jo_process *p, const char *relative)
{
	struct stat here, there;
	char link[64], real[JO_PATH];
	jo_group *g = p->group;
	if (g->cwd[0] == 0) {
		jo_use(p, JO_USE_UNREADABLE, "a path relative to a folder without a path");
		return NULL;
	}
	if (!jo_real_unsettled())
		return g->cwd;
	/* The tree has renamed or removed folders. */
	snprintf(link, sizeof link, "/proc/%d/cwd", (int)p->id);
	if (stat(link, &here) != 0)
		return g->cwd;
	if (stat(g->cwd, &there) == 0 && here.st_dev == there.st_dev && here.st_ino == there.st_ino)
		return g->cwd;
	ssize_t n = readlink(link, real, sizeof real - 1);
	real[n < 0 ? 0 : n] = 0;
	if (n < 0 || gone(real)) {
		if (strstr(relative, "..") != NULL)
			jo_use(p, JO_USE_UNREADABLE, "a path relative to a folder that is gone");
		return NULL;
	}
	free(g->cwd);
	g->cwd = strdup(real);
	g->moved = 1;
	return g->cwd;
}

/* of_descriptor does the same for a folder that is open. */
static const char *of_descriptor(jo_process *p, int fd, const char *relative, char *real, uint32_t *form)
{
	ssize_t n = jo_process_descriptor(p, fd, real, JO_PATH);
	if (n == -2)
		jo_use(p, JO_USE_UNREADABLE, "descriptors");
	if (!JO_WITHOUT(GIVEN))
		jo_use_inherited(p, fd);
	if (n < 0 || real[0] != '/')
		return NULL;
	if (gone(real)) {
		if (strstr(relative, "..") != NULL)
			jo_use(p, JO_USE_UNREADABLE, "a path relative to a folder that is gone");
		return NULL;
	}
	return jo_name_folder(real, form);
}

int jo_path_make(jo_process *p, int folder, const char *given, int follow, jo_path *into)
{
	char real[JO_PATH];
	const char *base = "";
	into->form = JO_ABSOLUTE;
	into->rooted = given[0] == '/';
	if (!into->rooted && folder == AT_FDCWD) {
		base = of_folder(p, given);
		into->form = p->group->moved ? JO_ABSOLUTE : JO_RELATIVE;
	} else if (!into->rooted) {
		base = of_descriptor(p, folder, given, real, &into->form);
	}
	if (base == NULL)
		return JO_NOWHERE;
	size_t a = strlen(base), b = strlen(given);
	if (a + b + 2 > JO_PATH) {
		jo_use(p, JO_USE_UNREADABLE, "a path that is too long to look up again");
		return JO_NOWHERE;
	}
	memcpy(into->text, base, a);
	if (!into->rooted && (a == 0 || base[a - 1] != '/'))
		into->text[a++] = '/';
	memcpy(into->text + a, given, b + 1);
	/* Only a path that begins so can lead to /proc or /dev without links. */
	const char *t = into->text;
	if (t[1] == 'p' || t[1] == 'd' || t[1] == '/' || t[1] == '.')
		return special(p, into, follow);
	return JO_SOMETHING;
}

int jo_path_opened(jo_process *p, int fd, jo_path *into, char *real)
{
	uint32_t form;
	ssize_t n = jo_process_descriptor(p, fd, real, JO_PATH);
	if (n == -2)
		jo_use(p, JO_USE_UNREADABLE, "descriptors");
	if (n < 0 || real[0] != '/')
		return JO_NOWHERE;
	const char *name = jo_name_folder(real, &form);
	int kind = jo_path_make(p, AT_FDCWD, name, 1, into);
	into->form = form;
	return kind;
}
