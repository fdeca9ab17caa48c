/* change.c: writes, renames, links and removals, as they are seen before and after the call. */
#include "change.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "calls.h"
#include "control.h"
#include "look.h"
#include "names.h"
#include "report.h"
#include "use.h"
#include "written.h"

/* ---- before */

static char *copied(const char *s)
{
	char *copy = strdup(s);
	if (copy == NULL)
		_exit(125);
	return copy;
}

static int wait_for(jo_process *p, int class, const jo_path *path, const char *real)
{
	jo_pending *w = &p->pending;
	jo_pending_clear(w);
	if (real == NULL) { /* its folder does not exist: the call will fail */
		jo_look_at(p, path, JO_LOOKED);
		return 0;
	}
	w->class = class;
	w->path = copied(path->text);
	w->form = path->form;
	w->real = copied(real);
	return 1;
}

/* stands is called before the tree changes what is at a path for the first time. If the tree has read
 * it, its content is an input, and will be gone. */
static void stands(const char *real)
{
	struct stat st;
	size_t at = 0;
	if (JO_WITHOUT(STOOD) || lstat(real, &st) != 0 || !S_ISREG(st.st_mode) || jo_written_in(real) != 0)
		return;
	for (jo_name *name; (name = jo_name_next(&at)) != NULL;)
		if (name->stamp.ino == st.st_ino && name->stamp.dev == st.st_dev && name->stamp.mode != 0)
			jo_look_keep(name);
}

int jo_change_open(jo_process *p, const jo_path *path, int flags, uint32_t mode)
{
	/* The file has no name until it is linked, but the call looks for the folder. */
	if ((flags & O_TMPFILE) == O_TMPFILE) {
		jo_look_at(p, path, JO_LOOKED);
		return 0;
	}
	char real[JO_PATH];
	unsigned type = jo_real_type(path->text, (flags & O_NOFOLLOW) == 0);
	/* An existing file is an input, because its old content is read or remains, unless
	 * O_TRUNC empties it. */
	if (type != 0 && ((flags & O_TRUNC) == 0 || type != S_IFREG))
		jo_look_open(p, path, JO_READ);
	if (!wait_for(p, JO_CALL_OPEN, path, jo_real(path->text)))
		return 0;
	if (type == S_IFREG)
		stands(jo_real_end(path->text, 0, real) ? real : path->text);
	p->pending.flags = flags;
	p->pending.mode = flags & O_CREAT ? mode & 07777 : JO_UNASKED;
	p->pending.existed = (int)type;
	return 1;
}

int jo_change_name(jo_process *p, int class, const jo_path *path)
{
	jo_look_link(p, path, 0);
	if (!wait_for(p, class, path, jo_real(path->text)))
		return 0;
	stands(p->pending.real);
	p->pending.existed = (int)jo_real_type(path->text, 0);
	return 1;
}

int jo_change_two(jo_process *p, int class, const jo_path *from, const jo_path *to, int follow)
{
	/* Unless the tree made the file, it counts as read. */
	if (from != NULL && !follow)
		jo_look_link(p, from, 0);
	if (from != NULL && (follow || jo_real_type(from->text, 0) != S_IFLNK))
		jo_look_at(p, from, JO_READ);
	if (class == JO_CALL_LINK)
		jo_look_link(p, to, 0); /* the new name must not exist */
	if (!wait_for(p, class, to, jo_real(to->text)))
		return 0;
	stands(p->pending.real);
	p->pending.existed = (int)jo_real_type(to->text, 0);
	const char *real = from == NULL || class != JO_CALL_RENAME ? NULL : jo_real(from->text);
	if (real != NULL)
		p->pending.real_from = copied(real);
	if (p->pending.real_from != NULL)
		stands(p->pending.real_from);
	return class != JO_CALL_RENAME || real != NULL;
}

int jo_change_file(jo_process *p, const jo_path *path, int follow, uint32_t set)
{
	char end[JO_PATH];
	const char *real = !follow ? jo_real(path->text) : jo_real_end(path->text, 0, end) ? end : NULL;
	if (!wait_for(p, JO_CALL_CHANGE, path, real))
		return 0;
	p->pending.mode = set;
	return 1;
}

/* file_of returns the path of a descriptor's file, NULL if it has none. */
static const char *file_of(jo_process *p, int fd, char *real)
{
	ssize_t n = jo_process_descriptor(p, fd, real, JO_PATH);
	if (n == -2)
		jo_use(p, JO_USE_UNREADABLE, "descriptors");
	return n < 0 || real[0] != '/' || jo_real_type(real, 0) == 0 ? NULL : real;
}

int jo_change_descriptor(jo_process *p, int fd, uint32_t set)
{
	jo_path path = {.form = JO_ABSOLUTE};
	if (JO_WITHOUT(DESCRIPTORS) || file_of(p, fd, path.text) == NULL)
		return 0;
	if (!wait_for(p, JO_CALL_CHANGE, &path, path.text))
		return 0;
	p->pending.mode = set;
	return 1;
}

int jo_change_folder(jo_process *p, const jo_path *path)
{
	static const jo_path none;
	if (path != NULL) {
		jo_look_at(p, path, JO_LOOKED);
		jo_look_permit(path, X_OK | JO_EFFECTIVE);
	}
	return wait_for(p, JO_CALL_CHDIR, path == NULL ? &none : path, "");
}

int jo_change_to_descriptor(jo_process *p, int fd)
{
	char real[JO_PATH];
	jo_path path = {.form = JO_ABSOLUTE};
	if (!JO_WITHOUT(GIVEN))
		jo_use_inherited(p, fd);
	if (file_of(p, fd, real) != NULL) {
		snprintf(path.text, sizeof path.text, "%s", jo_name_folder(real, &path.form));
		jo_look_permit(&path, X_OK | JO_EFFECTIVE);
	}
	return wait_for(p, JO_CALL_CHDIR, &path, "");
}

/* ---- after */

/* made notes that the tree has made what is at a path, with all its content. */
static void made(const char *real, int existed, int folder)
{
	uint32_t before = jo_written(real);
	int anew = existed == 0 || (before & (JO_CREATED | JO_REMOVED)) == JO_CREATED;
	/* If something that the tree did not make was here first, the tree has replaced it. */
	if (before & (JO_REPLACED | JO_CHANGED))
		anew = 0;
	jo_write(real, (anew ? JO_CREATED : JO_REPLACED) | (folder ? JO_FOLDER : 0),
		JO_REMOVED | JO_INPLACE | (folder ? 0 : JO_FOLDER));
}

static void removed(const char *real)
{
	jo_write(real, JO_REMOVED | (jo_written_in(real) & JO_CREATED ? JO_CREATED : JO_REPLACED),
		JO_INPLACE | JO_MODED);
}

/* of_itself reports whether a path is in the folder of a process of the tree in /proc. The
 * tree only sets something of its own there, such as oom_score_adj. */
static int of_itself(const char *real)
{
	long id;
	return sscanf(real, "/proc/%ld/", &id) == 1 && jo_process_was((pid_t)id);
}

/* changed: set is JO_MODED if the permissions have changed, else 0. */
static void changed(const char *real, uint32_t set)
{
	if (of_itself(real))
		return;
	if ((jo_written_in(real) & (JO_CREATED | JO_REPLACED)) == 0)
		jo_write(real, JO_CHANGED, 0);
	else if (set != 0 && jo_written(real) != 0)
		jo_write(real, set, 0);
}

/* in_place notes that the tree has emptied a file that stands, or has made one in a way that would
 * have emptied it. before has the bits of the file before the call. */
static void in_place(const char *real, const jo_pending *w, uint32_t before)
{
	struct stat st;
	if (before == 0 && (w->flags & (O_TRUNC | O_EXCL)) == O_TRUNC)
		jo_write(real, JO_INPLACE, 0);
	else if ((before & JO_REMOVED) == 0)
		jo_write(real, before & JO_INPLACE, 0);
	if (before == 0 && w->existed != 0 && stat(real, &st) == 0)
		jo_write_over(real, st.st_mode & 07777, st.st_gid);
	if (before == 0 || (before & JO_REMOVED) != 0)
		jo_write_asked(real, w->mode);
}

/* opened notes a file that was opened for writing. */
static void opened(jo_process *p, const jo_pending *w, int fd)
{
	char buffer[JO_PATH];
	/* The path may have led through links: the descriptor tells where. */
	const char *real = file_of(p, fd, buffer);
	if (real == NULL || jo_real_type(real, 0) != S_IFREG)
		return;
	uint32_t before = jo_written(real);
	if (w->existed == 0) {
		if (jo_written(real) == 0 && (w->flags & (O_TRUNC | O_EXCL)) == 0)
			jo_write(real, JO_ADDED, 0);
		made(real, 0, 0);
		in_place(real, w, before);
	} else if (w->flags & O_TRUNC) {
		made(real, S_IFREG, 0);
		in_place(real, w, before);
	} else if ((w->flags & O_ACCMODE) != O_RDONLY)
		changed(real, 0);
	jo_write_name(real, w->path, w->form);
}

static void renamed(const jo_pending *w)
{
	uint32_t from = jo_written_in(w->real_from);
	int folder = jo_real_type(w->real, 0) == S_IFDIR, whole = !folder || (from & JO_CREATED) != 0;
	made(w->real, w->existed, folder);
	jo_write_name(w->real, w->path, w->form);
	removed(w->real_from);
	if (folder && whole)
		jo_written_moved(w->real_from, w->real, w->path, w->form);
	/* A folder that the tree did not make took contents along that nobody has noted. */
	if (!whole)
		jo_write(w->real_from, JO_CHANGED, 0);
	jo_real_moved(folder);
}

static void entered(jo_process *p, jo_pending *w)
{
	char link[64], real[JO_PATH];
	jo_group *g = p->group;
	if (w->path[0] == 0) {
		snprintf(link, sizeof link, "/proc/%d/cwd", (int)p->id);
		ssize_t n = readlink(link, real, sizeof real - 1);
		real[n < 0 || n == (ssize_t)sizeof real - 1 ? 0 : n] = 0;
		free(w->path);
		w->path = copied(real);
		w->form = JO_ABSOLUTE;
	}
	free(g->cwd);
	g->cwd = w->path;
	g->moved = w->form == JO_ABSOLUTE;
	w->path = NULL;
	jo_look_entered(p);
}

/* denied notes a change that lacked permission. It may be allowed another time, if the folder
 * has other permissions or another owner, and no list holds owners. What may be done with the
 * tree's own files follows from who the tree is. */
static void denied(const jo_process *p, const jo_pending *w, int64_t result)
{
	if (result != -EACCES && result != -EPERM && result != -EROFS)
		return;
	if (JO_WITHOUT(PERMITS) || w->class == JO_CALL_CHDIR || of_itself(w->real))
		return;
	if (w->class != JO_CALL_CHANGE || (jo_written_in(w->real) & (JO_CREATED | JO_REPLACED)) == 0)
		jo_use(p, JO_USE_DENIED, w->path);
}

/* failed notes what made a call fail: that is an input. */
static void failed(jo_process *p, const jo_pending *w, int64_t result)
{
	jo_path path = {.form = w->form};
	if (w->path[0] == 0)
		return;
	denied(p, w, result);
	snprintf(path.text, sizeof path.text, "%s", w->path);
	jo_look_link(p, &path, 0);
	if (w->class == JO_CALL_OPEN || w->class == JO_CALL_CHANGE || w->class == JO_CALL_CHDIR)
		jo_look_at(p, &path, JO_LOOKED);
}

void jo_change_result(jo_process *p, int64_t result)
{
	jo_pending *w = &p->pending;
	if (result < 0 && w->class != 0)
		failed(p, w, result);
	if (result < 0)
		w->class = 0;
	switch (w->class) {
	case JO_CALL_OPEN: opened(p, w, (int)result); break;
	case JO_CALL_MAKE:
	case JO_CALL_LINK:
		made(w->real, 0, jo_real_type(w->real, 0) == S_IFDIR);
		jo_write_name(w->real, w->path, w->form);
		break;
	case JO_CALL_REMOVE:
		removed(w->real);
		jo_real_moved(w->existed == S_IFDIR);
		break;
	case JO_CALL_RENAME: renamed(w); break;
	case JO_CALL_CHANGE: changed(w->real, w->mode); break;
	case JO_CALL_CHDIR: entered(p, w); break;
	default: break;
	}
	jo_pending_clear(w);
}
