/* handle.c: from a call to the function that notes it. */
#include "handle.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "calls.h"
#include "change.h"
#include "control.h"
#include "execute.h"
#include "decider.h"
#include "given.h"
#include "hermetic.h"
#include "jobserver.h"
#include "look.h"
#include "names.h"
#include "other.h"
#include "output.h"
#include "path.h"
#include "report.h"
#include "round.h"
#include "stop.h"
#include "use.h"
#include "walk.h"
#include "written.h"

#ifndef AT_EMPTY_PATH
#define AT_EMPTY_PATH 0x1000
#endif

/* ---- what a call names */

/* A call can also name, besides what path.h lists, the file of a descriptor. */
enum { JO_DESCRIPTOR = 3 };

static int flag_of(const jo_call *c, const uint64_t args[6], int flag)
{
	return c->flags >= 0 && (args[c->flags] & (uint64_t)flag) != 0;
}

static int path_at(jo_process *p, int folder, uint64_t at, int follow, jo_path *into)
{
	char given[JO_PATH];
	if (at == 0)
		return JO_DESCRIPTOR;
	ssize_t n = jo_process_string(p, at, given, sizeof given);
	if (n < 0) {
		/* The process has no memory there, and the kernel will refuse the call; or it
		 * hides its memory. */
		jo_use(p, JO_USE_UNREADABLE, "a path");
		return JO_NOWHERE;
	}
	if (n == JO_PATH)
		return JO_NOWHERE; /* the kernel accepts no path of this length */
	return n == 0 ? JO_DESCRIPTOR : jo_path_make(p, folder, given, follow, into);
}

static int path_of(jo_process *p, const jo_call *c, const uint64_t args[6], int follow, jo_path *into)
{
	return path_at(p, c->folder < 0 ? AT_FDCWD : (int)args[c->folder], args[c->path], follow, into);
}

/* ---- answers
 *
 * The tracer may answer a look at an absent name itself, because it has just looked. Then the
 * tree has seen what the report says, and the disk is not asked twice. */

/* answer returns what jo_look_at returned, minus an errno, if the kernel would fail the call
 * with it; else JO_GO_ON. */
static int answer(const jo_call *c, const uint64_t args[6], const jo_path *path, int looked)
{
	const int known = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_EMPTY_PATH;
	if (!path->rooted || jo_other_identity() || (looked != -ENOENT && looked != -ENOTDIR))
		return JO_GO_ON;
	switch (c->class) {
	case JO_CALL_OPEN:
	case JO_CALL_OPEN_AT: return looked;
	case JO_CALL_LOOK:
		if (c->flags >= 0 && (args[c->flags] & ~(uint64_t)known) != 0)
			return JO_GO_ON;
		if (c->nr == SYS_statx && (args[3] & 0x80000000) != 0)
			return JO_GO_ON;
		return looked;
	case JO_CALL_ACCESS:
		if ((args[c->path + 1] & ~UINT64_C(7)) != 0 || c->flags >= 0)
			return JO_GO_ON;
		return looked;
	default: return JO_GO_ON;
	}
}

/* ---- opening */

/* open_output: a process opens a file that holds the output, by /dev/stdout or the like. The
 * file may stand for a terminal or pipe, which has no file position and cannot be truncated. */
static int open_output(const jo_process *p, const jo_call *c, const uint64_t args[6], const jo_path *path)
{
	struct stat st;
	if (stat(path->text, &st) != 0 || !jo_output_is(&st) || jo_output_opened(p, &st))
		return JO_GO_ON;
	if (c->class == JO_CALL_OPEN || c->class == JO_CALL_OPEN_AT)
		jo_stop_change(p->id, c->flags, (args[c->flags] & ~(uint64_t)O_TRUNC) | O_APPEND);
	return JO_GO_ON;
}

static int open_to_read(const jo_process *p, const jo_path *path, int flags)
{
	/* A descriptor that was opened with O_PATH still tells the time stamps, by fstat. */
	uint32_t bits = (flags & O_PATH) ? JO_LOOKED | JO_STATTED : JO_READ;
	if ((flags & O_NOFOLLOW) == 0)
		return jo_look_open(p, path, bits);
	jo_look_link(p, path, 0);
	if (jo_real_type(path->text, 0) != S_IFLNK)
		jo_look_open(p, path, bits);
	return 0;
}

static int open_call(jo_process *p, const jo_call *c, const uint64_t args[6], int flags, uint64_t mode)
{
	jo_path path;
	int writes = (flags & O_PATH) == 0 && ((flags & (O_CREAT | O_TRUNC)) || (flags & O_ACCMODE) != O_RDONLY);
	int kind = path_of(p, c, args, (flags & O_NOFOLLOW) == 0, &path);
	if (kind == JO_OF_TREE && writes)
		return open_output(p, c, args, &path);
	if (kind != JO_SOMETHING)
		return JO_GO_ON;
	if (writes)
		return jo_change_open(p, &path, flags, (uint32_t)mode);
	jo_decider_reads(p, path.text);
	return answer(c, args, &path, open_to_read(p, &path, flags));
}

/* RESOLVE_IN_ROOT of openat2: the folder takes the place of the root for the path and for links. */
enum { BELOW_ROOT = 0x10 };

/* no_links notes for each part of a path whether it is a link. */
static void no_links(jo_process *p, const jo_call *c, const uint64_t args[6])
{
	jo_path path, part;
	if (path_of(p, c, args, 0, &path) != JO_SOMETHING)
		return;
	for (char *end = path.text; end != NULL;) {
		end = strchr(end + 1, '/');
		size_t n = end == NULL ? strlen(path.text) : (size_t)(end - path.text);
		part = path;
		part.text[n] = 0;
		jo_look_link(p, &part, 0);
	}
}

static int open_how_call(jo_process *p, const jo_call *c, const uint64_t args[6])
{
	uint64_t how[3] = {0}; /* flags, mode, resolve */
	if (args[3] < sizeof how || !jo_process_read(p, args[2], how, sizeof how)) {
		jo_use(p, JO_USE_UNREADABLE, "struct open_how");
		return JO_GO_ON;
	}
	/* The flags of resolve may forbid the way, and then the call fails. The file counts all
	 * the same, and so does each part of the way that is no link. */
	if (how[2] != 0)
		no_links(p, c, args);
	if ((how[2] & BELOW_ROOT) != 0 && !JO_WITHOUT(ROOTS))
		jo_use(p, JO_USE_UNKNOWN, "openat2 in another root");
	return open_call(p, c, args, (int)how[0], how[1]);
}

/* ---- names */

/* asks_inode reports whether a statx asks for single fields that no list holds. The time is one of
 * these too for a folder, for a link, and for a file that the tree has made. A program that asks for
 * all fields, as stat does, may need only the others. */
static int asks_inode(const jo_call *c, const uint64_t args[6], const char *path, int link)
{
	/* linux/stat.h: STATX_NLINK, _UID, _GID, _INO, _BLOCKS; times: _ATIME, _CTIME, _BTIME; time: _MTIME */
	const int hermetic = jo_hermetic(); /* times are shown, and follow from the request */
	const uint64_t all = 0x07ff, times = hermetic ? 0 : 0x0020 | 0x0080 | 0x0800, time = hermetic ? 0 : 0x0040;
	const uint64_t unlisted = 0x0004 | 0x0008 | 0x0010 | 0x0100 | 0x0400 | times;
	if (c->nr != SYS_statx || (args[3] & all) == all || JO_WITHOUT(INODES))
		return 0;
	unsigned type = (args[3] & time) != 0 ? jo_real_type(path, !link) : 0;
	if ((args[3] & unlisted) != 0 || type == S_IFDIR || type == S_IFLNK)
		return 1;
	return type != 0 && jo_look_own(path, !link) && !JO_WITHOUT(OWNTIMES);
}

/* permit_call handles access: a process asks what it may do with a path. */
static void permit_call(const jo_call *c, const uint64_t args[6], const jo_path *path)
{
	uint32_t how = (uint32_t)args[c->path + 1] & (R_OK | W_OK | X_OK);
	if (c->class == JO_CALL_ACCESS && how != 0)
		jo_look_permit(path, how | (flag_of(c, args, AT_EACCESS) ? JO_EFFECTIVE : 0));
}

/* stat_output answers who asks by a path what output is, by what it stands for: clang puts another
 * file in the place of /dev/stdout if that is a file, and gcc may remove it. */
static int stat_output(jo_process *p, const jo_call *c, const uint64_t args[6], const jo_path *path)
{
	struct stat st;
	unsigned char all[256] = {0}; /* struct statx, and where its stx_mode is */
	const uint16_t pipe = S_IFIFO | 0600, mode_at = 28;
	if (stat(path->text, &st) != 0 || !jo_output_is(&st) || JO_WITHOUT(STANDS))
		return JO_GO_ON;
	jo_use(p, JO_USE_DESCRIPTOR, "what output is");
	int fd = jo_output_stands(&st), none = fd < 0;
	if (c->nr != SYS_statx) {
		if (!none && fstat(fd, &st) != 0)
			return JO_GO_ON;
		st.st_mode = none ? pipe : st.st_mode;
		return jo_process_write(p, args[c->path + 1], &st, sizeof st) ? JO_ANSWERED : JO_GO_ON;
	}
	if (syscall(SYS_statx, none ? AT_FDCWD : fd, none ? path->text : "", AT_EMPTY_PATH, args[3], all) != 0)
		return JO_GO_ON;
	if (none)
		memcpy(all + mode_at, &pipe, sizeof pipe);
	return jo_process_write(p, args[4], all, sizeof all) ? JO_ANSWERED : JO_GO_ON;
}

static int look_call(jo_process *p, const jo_call *c, const uint64_t args[6])
{
	jo_path path;
	uint32_t bits = c->class == JO_CALL_LOOK || c->class == JO_CALL_LOOK_LINK ? JO_STATTED : 0;
	int link = c->class == JO_CALL_LOOK_LINK || c->class == JO_CALL_READLINK ||
	           (c->class != JO_CALL_SYSTEM && flag_of(c, args, AT_SYMLINK_NOFOLLOW));
	int kind = path_of(p, c, args, !link, &path);
	int steps = kind == JO_SOMETHING && link && (bits != 0 || c->class == JO_CALL_READLINK);
	if (!steps)
		jo_walk_end(p);
	/* A process asks about a descriptor, perhaps one that the command was started with. The C library
	 * asks about output before it prints. */
	if (kind == JO_DESCRIPTOR && c->folder >= 0 && (int)args[c->folder] != 1 && (int)args[c->folder] != 2)
		jo_given_asked(p, (int)args[c->folder], JO_GIVEN_STAT);
	if (kind == JO_OF_TREE && !link && bits != 0)
		return stat_output(p, c, args, &path);
	if (kind != JO_SOMETHING)
		return JO_GO_ON;
	if (asks_inode(c, args, path.text, link))
		jo_use(p, JO_USE_INODE, path.text);
	if (!link) {
		int looked = jo_look_at(p, &path, JO_LOOKED | bits);
		permit_call(c, args, &path);
		if (c->nr == SYS_statfs)
			jo_look_mounted(&path);
		return answer(c, args, &path, looked);
	}
	jo_look_link(p, &path, bits);
	permit_call(c, args, &path);
	if (bits != 0)
		jo_walk_step(p, path.text);
	else if (steps)
		jo_walk_text(p, path.text);
	return JO_GO_ON;
}

static int two_call(jo_process *p, const jo_call *c, const uint64_t args[6])
{
	jo_path from, to;
	int follow = c->class == JO_CALL_LINK && flag_of(c, args, 0x400 /* AT_SYMLINK_FOLLOW */);
	int a = path_of(p, c, args, follow, &from);
	int b = path_at(p, c->folder2 < 0 ? AT_FDCWD : (int)args[c->folder2], args[c->path2], 0, &to);
	/* Any flag but RENAME_NOREPLACE: exchange, whiteout, and flags of later kernels. */
	if (c->class == JO_CALL_RENAME && flag_of(c, args, ~1))
		jo_use(p, JO_USE_UNKNOWN, "renameat2");
	if (a == JO_SOMETHING && b != JO_SOMETHING)
		jo_look_at(p, &from, JO_READ);
	/* linkat may give a file of O_TMPFILE its first name: the file has no name before. */
	if (b != JO_SOMETHING || (a != JO_SOMETHING && c->class == JO_CALL_RENAME))
		return JO_GO_ON;
	return jo_change_two(p, c->class, a == JO_SOMETHING ? &from : NULL, &to, follow);
}

/* moded returns JO_MODED for a call that changes permissions, else 0. */
static uint32_t moded(const jo_call *c)
{
	switch (c->nr) {
#ifdef SYS_chmod
	case SYS_chmod:
#endif
	case SYS_fchmod:
	case SYS_fchmodat:
	case 452 /* fchmodat2 */: return JO_MODED;
	default: return 0;
	}
}

static int change_call(jo_process *p, const jo_call *c, const uint64_t args[6])
{
	jo_path path;
	int follow = c->class == JO_CALL_CHANGE && !flag_of(c, args, AT_SYMLINK_NOFOLLOW);
	switch (path_of(p, c, args, follow, &path)) {
	case JO_SOMETHING: return jo_change_file(p, &path, follow, moded(c));
	case JO_DESCRIPTOR: return c->folder < 0 ? JO_GO_ON : jo_change_descriptor(p, (int)args[c->folder], moded(c));
	default: return JO_GO_ON;
	}
}

static int execute_call(jo_process *p, const jo_call *c, const uint64_t args[6])
{
	jo_path path;
	char link[64];
	int kind = path_of(p, c, args, 1, &path);
	if (kind == JO_DESCRIPTOR && c->folder >= 0) {
		/* fexecve */
		snprintf(link, sizeof link, "/proc/self/fd/%d", (int)args[c->folder]);
		kind = jo_path_make(p, AT_FDCWD, link, 1, &path);
	}
	if (kind == JO_SOMETHING)
		jo_execute_call(p, &path);
	return JO_GO_ON;
}

static int attributes_call(jo_process *p, const jo_call *c, const uint64_t args[6])
{
	char name[256];
	jo_path path;
	int by_name = c->flags >= 0, follow = c->class != JO_CALL_LXATTR, kind = JO_SOMETHING;
	if (by_name && jo_process_string(p, args[c->flags], name, sizeof name) < 0)
		by_name = 0;
	if (c->class == JO_CALL_FXATTR && (int)args[0] != 1 && (int)args[0] != 2 && jo_use_inherited(p, (int)args[0]))
		return JO_GO_ON;
	if (c->class == JO_CALL_FXATTR) {
		snprintf(path.text, sizeof path.text, "/proc/%d/fd/%d", (int)p->id, (int)args[0]);
		path.form = 0;
	} else {
		kind = path_of(p, c, args, follow, &path);
		if (kind == JO_SOMETHING && follow)
			jo_look_at(p, &path, JO_LOOKED);
		else if (kind == JO_SOMETHING)
			jo_look_link(p, &path, 0);
	}
	if (kind == JO_SOMETHING)
		jo_look_attributes(p, &path, follow, by_name ? name : NULL);
	return JO_GO_ON;
}

static int name_call(jo_process *p, const jo_call *c, const uint64_t args[6])
{
	jo_path path;
	int kind = path_of(p, c, args, c->class == JO_CALL_CHDIR, &path);
	if (c->class == JO_CALL_CHDIR)
		return kind == JO_DESCRIPTOR ? JO_GO_ON : jo_change_folder(p, kind == JO_SOMETHING ? &path : NULL);
	return kind == JO_SOMETHING ? jo_change_name(p, c->class, &path) : JO_GO_ON;
}

/* ---- all of them */

static int handle(jo_process *p, const jo_call *c, const uint64_t args[6])
{
	switch (c->class) {
	case JO_CALL_OPEN:
	case JO_CALL_OPEN_AT: return open_call(p, c, args, (int)args[c->flags], args[c->flags + 1]);
	case JO_CALL_OPEN_HOW: return open_how_call(p, c, args);
	case JO_CALL_CREAT: return open_call(p, c, args, O_CREAT | O_WRONLY | O_TRUNC, args[1]);
	case JO_CALL_LOOK:
	case JO_CALL_LOOK_LINK:
	case JO_CALL_ACCESS:
	case JO_CALL_SYSTEM:
	case JO_CALL_READLINK: return look_call(p, c, args);
	case JO_CALL_EXEC: return execute_call(p, c, args);
	case JO_CALL_CHDIR:
	case JO_CALL_MAKE:
	case JO_CALL_REMOVE: return name_call(p, c, args);
	case JO_CALL_FCHDIR: return jo_change_to_descriptor(p, (int)args[0]);
	case JO_CALL_XATTR:
	case JO_CALL_LXATTR:
	case JO_CALL_FXATTR: return attributes_call(p, c, args);
	case JO_CALL_RENAME:
	case JO_CALL_LINK: return two_call(p, c, args);
	case JO_CALL_CHANGE:
	case JO_CALL_LCHANGE: return change_call(p, c, args);
	case JO_CALL_FCHANGE: return jo_change_descriptor(p, (int)args[0], moded(c));
	default: return jo_other_call(p, c, args);
	}
}

int jo_handle_call(jo_process *p, long nr, const uint64_t args[6])
{
	char text[32];
	const jo_call *c = jo_call_of(nr);
	if (nr == JO_MARK && jo_round_mark())
		return JO_GO_ON;
	if (JO_WITHOUT(CHILDREN) && p->group->child)
		return JO_GO_ON;
	if (c == NULL && jo_class_of(nr) == JO_CALL_HARMLESS)
		return JO_GO_ON; /* a hermetic tree stops at some of them */
	if (c == NULL) {
		snprintf(text, sizeof text, "system call %ld", nr);
		jo_use(p, JO_USE_UNKNOWN, text);
		return JO_GO_ON;
	}
	if (c->class != JO_CALL_LOOK && c->class != JO_CALL_LOOK_LINK && c->class != JO_CALL_READLINK)
		jo_walk_end(p);
	if (jo_use_blind() && c->class != JO_CALL_WRITE && c->class != JO_CALL_AFFINITY)
		return JO_GO_ON;
	if (jo_jobserver_call(p, c, args))
		return JO_GO_ON;
	return handle(p, c, args);
}

int jo_handle_interrupted(jo_process *p, long nr, const uint64_t args[6])
{
	jo_path path;
	struct stat st;
	const jo_call *c = jo_call_of(nr);
	if (c == NULL || p->group == NULL)
		return 0;
	switch (c->class) {
	case JO_CALL_LOOK:
	case JO_CALL_LOOK_LINK:
	case JO_CALL_ACCESS:
	case JO_CALL_SYSTEM:
	case JO_CALL_READLINK: return 1;
	case JO_CALL_OPEN:
	case JO_CALL_OPEN_AT:
		/* Opening a pipe or a terminal may wait without the tracer too. */
		if (path_of(p, c, args, 1, &path) != JO_SOMETHING || stat(path.text, &st) != 0)
			return 1;
		return !S_ISFIFO(st.st_mode) && (!S_ISCHR(st.st_mode) || major(st.st_rdev) == 1 /* memory */);
	default: return 0;
	}
}
