#include "handle.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "absent.h"
#include "calls.h"
#include "execute.h"
#include "look.h"
#include "names.h"
#include "output.h"
#include "report.h"
#include "round.h"
#include "watch.h"

#ifndef AT_EMPTY_PATH
#define AT_EMPTY_PATH 0x1000
#endif

/* path_of reads the path of a call and makes it absolute. 0: there is none, or
 * none that leads anywhere; the call then fails, or is about a descriptor. */
static int path_of(jo_process *p, const uint64_t args[6], int folder, int path, char *into)
{
	char given[4097];
	if (args[path] == 0)
		return 0;
	ssize_t n = jo_process_string(p, args[path], given, sizeof given);
	if (n < 0) {
		/* Too long or no memory of the process, which the kernel refuses too. */
		jo_look_used(p, JO_USE_UNREADABLE, NULL);
		return 0;
	}
	if (n == 0)
		return 0;
	return jo_look_absolute(p, folder < 0 ? AT_FDCWD : (int)args[folder], given, into);
}

/* ---- what changes files */

static int wait_for(jo_process *p, int class, const char *path, const char *real, int flags)
{
	jo_pending *w = &p->pending;
	jo_pending_clear(w);
	if (real == NULL) { /* there is no folder for it: it fails */
		jo_look_at(p, path, JO_LOOKED);
		return 0;
	}
	w->class = class;
	w->flags = flags;
	w->path = strdup(path);
	w->real = strdup(real);
	w->existed = (int)jo_look_type(path, class == JO_CALL_OPEN && (flags & O_NOFOLLOW) == 0);
	return w->path != NULL && w->real != NULL;
}

/* made notes that something new stands at a path, whole. */
static void made(const char *real, int existed, int folder)
{
	uint32_t before = jo_written(real);
	jo_absent_forget();
	int anew = existed == 0 || (before & (JO_CREATED | JO_REMOVED)) == JO_CREATED;
	/* What was removed and was not the tree's is replaced, not created. */
	if (before & (JO_REPLACED | JO_CHANGED))
		anew = 0;
	jo_write(real, (anew ? JO_CREATED : JO_REPLACED) | (folder ? JO_FOLDER : 0), JO_REMOVED | (folder ? 0 : JO_FOLDER));
}

static void removed(const char *real)
{
	uint32_t before = jo_written(real);
	jo_absent_forget();
	jo_write(real, JO_REMOVED | (before & JO_CREATED ? 0 : JO_REPLACED), 0);
}

static void changed(const char *real)
{
	if ((jo_written_in(real) & (JO_CREATED | JO_REPLACED)) == 0)
		jo_write(real, JO_CHANGED, 0);
}

/* opened: a file was opened for writing. */
static void opened(const jo_process *p, const jo_pending *w, int fd)
{
	char real[JO_PATH];
	/* Through links, and without a name for O_TMPFILE: the descriptor tells. */
	if (jo_process_descriptor(p, fd, real, sizeof real) < 0 || real[0] != '/')
		return;
	int type = (int)jo_look_type(real, 0);
	if (type == S_IFREG && w->existed == 0)
		made(real, 0, 0);
	else if (type == S_IFREG && (w->flags & O_TRUNC))
		made(real, S_IFREG, 0);
	else if (type == S_IFREG && (w->flags & O_ACCMODE) != O_RDONLY)
		changed(real);
}

static void renamed(const jo_pending *w)
{
	uint32_t from = jo_written(w->real_from);
	int folder = jo_look_type(w->real, 0) == S_IFDIR;
	made(w->real, w->existed, folder);
	removed(w->real_from);
	/* A folder that was not the tree's takes everything in it along. */
	if (folder && (from & JO_CREATED) == 0)
		jo_write(w->real_from, JO_CHANGED, 0);
	jo_look_moved();
}

static void entered(jo_process *p, jo_pending *w)
{
	free(p->group->cwd);
	p->group->cwd = w->path;
	p->group->moved = w->flags == (int)JO_ABSOLUTE;
	w->path = NULL;
}

void jo_handle_result(jo_process *p, int64_t result)
{
	jo_pending *w = &p->pending;
	if (result >= 0) {
		switch (w->class) {
		case JO_CALL_OPEN: opened(p, w, (int)result); break;
		case JO_CALL_MAKE:
		case JO_CALL_LINK:
			made(w->real, 0, jo_look_type(w->real, 0) == S_IFDIR);
			jo_look_moved();
			break;
		case JO_CALL_REMOVE:
			removed(w->real);
			jo_look_moved();
			break;
		case JO_CALL_RENAME: renamed(w); break;
		case JO_CALL_CHANGE: changed(w->real); break;
		case JO_CALL_CHDIR:
		case JO_CALL_FCHDIR: entered(p, w); break;
		default: break;
		}
	}
	jo_pending_clear(w);
}

static int rename_call(jo_process *p, const jo_call *c, const uint64_t args[6])
{
	char from[JO_PATH], to[JO_PATH];
	if (!path_of(p, args, c->folder, c->path, from))
		return 0;
	/* A file that is not the tree's is one that it reads. */
	jo_look_at(p, from, JO_READ);
	if (!path_of(p, args, c->folder2, c->path2, to))
		return 0;
	if (c->flags >= 0 && (args[c->flags] & 2 /* RENAME_EXCHANGE */))
		jo_look_used(p, JO_USE_UNKNOWN, "renameat2 that exchanges");
	if (!wait_for(p, JO_CALL_RENAME, to, jo_look_real(to), 0))
		return 0;
	const char *real = jo_look_real(from);
	p->pending.real_from = real == NULL ? NULL : strdup(real);
	return p->pending.real_from != NULL;
}

/* link_call: what gets another name may have none yet, after O_TMPFILE. */
static int link_call(jo_process *p, const jo_call *c, const uint64_t args[6])
{
	char from[JO_PATH], to[JO_PATH];
	if (path_of(p, args, c->folder, c->path, from))
		jo_look_at(p, from, JO_READ);
	return path_of(p, args, c->folder2, c->path2, to) && wait_for(p, JO_CALL_LINK, to, jo_look_real(to), 0);
}

/* ---- opening */

/* known_to_fail returns what jo_look_at has, if nobody can doubt it. */
static int known_to_fail(int looked) { return looked == -ENOENT || looked == -ENOTDIR ? looked : 0; }

static int open_to_read(jo_process *p, const char *path, int flags)
{
	uint32_t bits = (flags & O_PATH) ? JO_LOOKED : JO_READ;
	if ((flags & O_NOFOLLOW) == 0)
		return known_to_fail(jo_look_at(p, path, bits));
	jo_look_link(p, path, 0);
	if (jo_look_type(path, 0) != S_IFLNK)
		jo_look_at(p, path, bits);
	return 0;
}

static int open_call(jo_process *p, const char *path, int flags)
{
	int writes = (flags & (O_CREAT | O_TRUNC)) || (flags & O_ACCMODE) != O_RDONLY;
	if ((flags & O_PATH) == O_PATH)
		writes = 0;
	if (!writes)
		return open_to_read(p, path, flags);
	if ((flags & O_TMPFILE) == O_TMPFILE)
		return 0; /* nameless, until it is linked */
	unsigned type = jo_look_type(path, 1);
	/* What is opened to be read too, or changed, is an input, unless it is emptied. */
	if (type != 0 && (flags & O_TRUNC) == 0)
		jo_look_at(p, path, JO_READ);
	else if (type != 0 && type != S_IFREG)
		jo_look_at(p, path, JO_READ);
	const char *real = jo_look_real(path);
	return wait_for(p, JO_CALL_OPEN, path, real, flags);
}

static int open_how_call(jo_process *p, const char *path, const uint64_t args[6])
{
	uint64_t how[3] = {0}; /* flags, mode, resolve */
	if (args[3] < sizeof how || !jo_process_read(p, args[2], how, sizeof how)) {
		jo_look_used(p, JO_USE_UNREADABLE, path);
		return 0;
	}
	/* Where it may not go it fails, and the file counts all the same. */
	return open_call(p, path, (int)how[0]);
}

/* ---- connections */

/* connect_call: nobody listens at a name that is absent (nscd's socket, which
 * glibc looks for); anything else may answer something new each time. */
static void connect_call(jo_process *p, const uint64_t args[6])
{
	struct sockaddr_un a = {0};
	char path[JO_PATH];
	size_t n = args[2] < sizeof a ? (size_t)args[2] : sizeof a;
	if (!jo_process_read(p, args[1], &a, n) || a.sun_family != AF_UNIX || a.sun_path[0] == 0) {
		jo_look_used(p, JO_USE_SOCKET, NULL);
		return;
	}
	char name[sizeof a.sun_path + 1] = {0};
	memcpy(name, a.sun_path, sizeof a.sun_path);
	if (!jo_look_absolute(p, AT_FDCWD, name, path) || jo_look_at(p, path, JO_LOOKED) >= 0)
		jo_look_used(p, JO_USE_SOCKET, name);
}

/* ---- all of them */

static int change_folder(jo_process *p, const char *path)
{
	jo_look_at(p, path, JO_LOOKED);
	return wait_for(p, JO_CALL_CHDIR, path, path, (int)jo_look_form());
}

static int change_to_descriptor(jo_process *p, int fd)
{
	char real[JO_PATH];
	if (jo_process_descriptor(p, fd, real, sizeof real) < 0 || real[0] != '/')
		return 0;
	uint32_t form;
	const char *path = jo_name_folder(real, &form);
	return wait_for(p, JO_CALL_FCHDIR, path, path, (int)form);
}

/* descriptor_call: calls of which the filter has seen that a descriptor may be
 * one that the command came with. */
static void descriptor_call(jo_process *p, const jo_call *c, const uint64_t args[6])
{
	switch (c->class) {
	case JO_CALL_SEND:
		jo_look_inherited(p, (int)args[0]);
		jo_look_inherited(p, (int)args[1]);
		break;
	case JO_CALL_SPLICE:
		jo_look_inherited(p, (int)args[0]);
		jo_look_inherited(p, (int)args[2]);
		break;
	case JO_CALL_MAP: jo_look_inherited(p, (int)args[4]); break;
	default: jo_look_inherited(p, (int)args[0]);
	}
}

static int path_call(jo_process *p, const jo_call *c, const uint64_t args[6], const char *path)
{
	int no_follow = c->class == JO_CALL_LOOK && c->flags >= 0 && (args[c->flags] & AT_SYMLINK_NOFOLLOW);
	switch (c->class) {
	case JO_CALL_OPEN:
	case JO_CALL_OPEN_AT: return open_call(p, path, (int)args[c->flags]);
	case JO_CALL_OPEN_HOW: return open_how_call(p, path, args);
	case JO_CALL_CREAT: return open_call(p, path, O_CREAT | O_WRONLY | O_TRUNC);
	case JO_CALL_LOOK:
		if (!no_follow)
			return known_to_fail(jo_look_at(p, path, JO_LOOKED | JO_STATTED));
		jo_look_link(p, path, JO_STATTED);
		return 0;
	case JO_CALL_ACCESS: return known_to_fail(jo_look_at(p, path, JO_LOOKED));
	case JO_CALL_LOOK_LINK: jo_look_link(p, path, JO_STATTED); return 0;
	case JO_CALL_READLINK: jo_look_link(p, path, 0); return 0;
	case JO_CALL_EXEC: jo_execute_call(p, path); return 0;
	case JO_CALL_CHDIR: return change_folder(p, path);
	case JO_CALL_XATTR:
	case JO_CALL_LXATTR:
		jo_look_at(p, path, JO_LOOKED);
		jo_look_attributes(p, path, c->class == JO_CALL_XATTR);
		return 0;
	case JO_CALL_MAKE:
		jo_look_link(p, path, 0);
		return wait_for(p, JO_CALL_MAKE, path, jo_look_real(path), 0);
	case JO_CALL_REMOVE:
		jo_look_link(p, path, 0);
		return wait_for(p, JO_CALL_REMOVE, path, jo_look_real(path), 0);
	case JO_CALL_CHANGE: return wait_for(p, JO_CALL_CHANGE, path, jo_look_real(path), 0);
	default: return 0;
	}
}

/* attributes_call: fgetxattr and flistxattr. */
static void attributes_call(jo_process *p, int fd)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)p->id, fd);
	jo_look_attributes(p, path, 1);
}

int jo_handle_call(jo_process *p, long nr, const uint64_t args[6])
{
	char path[JO_PATH];
	const jo_call *c = jo_call_of(nr);
	if (nr == JO_MARK && jo_round_mark())
		return 0;
	if (c == NULL) {
		snprintf(path, sizeof path, "%ld", nr);
		jo_look_used(p, JO_USE_UNKNOWN, path);
		return 0;
	}
	if (c->class == JO_CALL_RENAME)
		return rename_call(p, c, args);
	if (c->class == JO_CALL_LINK)
		return link_call(p, c, args);
	if (c->path >= 0)
		return path_of(p, args, c->folder, c->path, path) ? path_call(p, c, args, path) : 0;
	switch (c->class) {
	case JO_CALL_FCHDIR: return change_to_descriptor(p, (int)args[0]);
	case JO_CALL_GETCWD: jo_look_used(p, JO_USE_CWD, NULL); break;
	case JO_CALL_LIST: jo_look_list(p, (int)args[0]); break;
	case JO_CALL_XATTR: attributes_call(p, (int)args[0]); break;
	case JO_CALL_WRITE:
		if (!jo_output_stop((int)args[0]))
			jo_look_inherited(p, (int)args[0]);
		break;
	case JO_CALL_CLOCK_ID: jo_look_used(p, JO_USE_CLOCK, "clock_gettime"); break;
	case JO_CALL_TIME: jo_look_used(p, JO_USE_CLOCK, "time"); break;
	case JO_CALL_TIME_OF_DAY: jo_look_used(p, JO_USE_CLOCK, "gettimeofday"); break;
	case JO_CALL_CLONE: jo_look_used(p, JO_USE_LIVES, "clone"); break;
	case JO_CALL_AFFINITY: jo_watch_unpin(); break;
	case JO_CALL_CONNECT: connect_call(p, args); break;
	case JO_CALL_SOCKET: jo_look_used(p, JO_USE_SOCKET, NULL); break;
	case JO_CALL_USED: jo_look_used(p, c->flags, NULL); break;
	default: descriptor_call(p, c, args);
	}
	return 0;
}
