/* look.c: what stat, open and their kin find at a name, and their permissions. */
#include "look.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "attributes.h"
#include "control.h"
#include "import.h"
#include "loader.h"
#include "names.h"
#include "report.h"
#include "stamp.h"
#include "table.h"
#include "use.h"
#include "written.h"

/* up removes the last part of a path. */
static void up(char *path)
{
	char *slash = strrchr(path, '/');
	if (slash != NULL)
		*slash = 0;
}

/* below_own is for a path whose last folder does not exist. It reports whether the tree has
 * made or removed the first part of the path that is missing or is no folder. */
static int below_own(const char *path)
{
	char above[JO_PATH];
	snprintf(above, sizeof above, "%s", path);
	for (up(above); above[0] != 0; up(above)) {
		const char *real = jo_real(above);
		if (real != NULL)
			return (jo_written_in(real) & (JO_CREATED | JO_REMOVED)) != 0;
	}
	return 0;
}

/* ends_in_link reports whether the last part of a path may be a link: else jo_real knows where it leads. */
static int ends_in_link(const char *path)
{
	return strchr("/.", path[strlen(path) - 1]) != NULL || jo_real_type(path, 0) == S_IFLNK;
}

/* own reports whether the tree itself has made what is at a path, or has removed what was
 * there, whichever links lead there. follow: if a link is at the end, its target counts too. */
static int own(const char *path, int exists, int follow)
{
	char end[JO_PATH];
	if (!jo_wrote_any() || JO_WITHOUT(OWN))
		return 0;
	int may = jo_may_be_written(path) || (!exists && jo_real_unsettled());
	const char *real = may ? jo_real(path) : NULL;
	if (real != NULL && (jo_written_in(real) & (JO_CREATED | JO_REPLACED | JO_REMOVED)))
		return 1;
	if (may && real == NULL && !exists && below_own(path))
		return 1;
	return exists && follow && ends_in_link(path) && jo_real_end(path, 0, end) &&
	       (jo_written_in(end) & (JO_CREATED | JO_REPLACED)) != 0;
}

int jo_look_own(const char *path, int follow)
{
	char end[JO_PATH];
	if (!jo_wrote_any())
		return 0;
	const char *real = !follow ? jo_real(path) : jo_real_end(path, 0, end) ? end : NULL;
	return real != NULL && (jo_written_in(real) & (JO_CREATED | JO_REPLACED | JO_CHANGED)) != 0;
}

/* told reports whether a path leads, by a link, into the folder of /proc that is about the
 * process that asks: the tracer would read about itself there. */
static int told(const jo_process *p, const char *path, const jo_stamp *stamp)
{
	char end[JO_PATH];
	static uint64_t dev;
	struct stat st;
	if (dev == 0)
		dev = stat("/proc/self", &st) == 0 ? (uint64_t)st.st_dev : ~UINT64_C(0);
	if (stamp->mode == 0 || stamp->dev != dev || !jo_real_tells(path))
		return 0;
	const char *rest = jo_real_end(path, 0, end) ? strchr(end + strlen("/proc/"), '/') : NULL;
	if (rest != NULL)
		jo_use_told(p, rest, path);
	return 1;
}

/* send puts the content of a file into the report if its stamp proves nothing. A file without
 * a size, as in /proc, is sent only if the tree reads it. */
static void send(jo_name *name)
{
	const jo_stamp *s = &name->stamp;
	if (JO_WITHOUT(CONTENT) || (name->bits & (JO_SENT | JO_LARGE)) != 0 || !jo_stamp_doubtful(name->path, s))
		return;
	if (s->size == 0 && (name->bits & (JO_READ | JO_RUN)) == 0)
		return;
	int error = jo_stamp_send(name->path, s->size);
	if (error == EFBIG)
		name->bits |= JO_LARGE;
	else if (error == 0)
		name->bits |= JO_SENT;
	else
		name->stamp.error = error;
}

void jo_look_keep(jo_name *name)
{
	if ((name->bits & (JO_READ | JO_RUN)) == 0 || (name->bits & (JO_SENT | JO_LARGE)) != 0)
		return;
	int error = jo_stamp_send(name->path, name->stamp.size);
	name->bits |= error == EFBIG ? JO_LARGE : error == 0 ? JO_SENT : 0;
}

/* own_mode notes a use of the umask: a process that stats one of the tree's own files gets the
 * permissions, which follow from the umask. */
static void own_mode(const jo_process *p, unsigned mode, uint32_t bits)
{
	if (mode != 0 && (bits & JO_STATTED) && !S_ISLNK(mode) && !JO_WITHOUT(MADE))
		jo_use(p, JO_USE_UMASK, NULL);
}

/* followed notes what a path leads to. It returns 0 if that is no input, as for the tree's own
 * files. */
static int followed(const jo_process *p, jo_name *name, uint32_t bits)
{
	int first = (name->bits & JO_FOLLOWED) == 0;
	jo_stamp stamp = name->stamp;
	if (first)
		jo_stamp_take(name->path, &stamp);
	if (own(name->path, stamp.mode != 0, 1)) {
		own_mode(p, stamp.mode, bits);
		return 0;
	}
	if (first && told(p, name->path, &stamp))
		return 0;
	if ((JO_WITHOUT(ABSENT) && stamp.mode == 0) || (JO_WITHOUT(LOOKED) && (bits & JO_FOLLOWED) == JO_LOOKED))
		return 0;
	name->stamp = stamp;
	name->bits |= bits;
	unsigned type = stamp.mode & S_IFMT;
	if ((type == S_IFREG || (type == S_IFDIR && (bits & JO_READ))) && access(name->path, R_OK) != 0)
		name->stamp.error = errno;
	if (type == S_IFREG)
		send(name);
	return 1;
}

/* appeared is called when the tree looks again for a name that was absent: the tree may be
 * waiting for it. It returns 1 if the name exists by now. */
static int appeared(const jo_process *p, const jo_name *name, uint32_t bits)
{
	unsigned type = jo_real_type(name->path, 1);
	if (type == 0)
		return 0;
	if (own(name->path, 1, 1))
		own_mode(p, type, bits);
	else if (!JO_WITHOUT(UNSTEADY))
		jo_use(p, JO_USE_UNSTEADY, name->path);
	return 1;
}

static void noted(const jo_process *p, jo_name *name, uint32_t bits)
{
	name->programs |= jo_use_program(p);
	if (bits & JO_STATTED)
		name->statted |= jo_use_program(p);
	if ((bits & JO_READ) && !jo_loader_reads(p, name->path))
		name->readers |= jo_use_program(p);
}

int jo_look_at(const jo_process *p, const jo_path *path, uint32_t bits)
{
	jo_name *name = jo_name_of(path->text);
	int input = (name->bits & JO_FOLLOWED) != 0;
	bits |= path->form;
	if (input && name->stamp.mode == 0 && appeared(p, name, bits))
		return 0;
	if (!input || (name->bits & bits) != bits)
		input = followed(p, name, bits);
	if (!input)
		return 0;
	noted(p, name, bits);
	if ((bits & (JO_STATTED | JO_READ)) && jo_import_asks(p, path->text, bits))
		name->asked |= jo_use_program(p);
	return name->stamp.mode == 0 ? -name->stamp.error : (int)(name->stamp.mode & S_IFMT);
}

void jo_look_permit(const jo_path *path, uint32_t how)
{
	jo_name *name = jo_name_of(path->text);
	if (JO_WITHOUT(PERMITS) || (name->bits & JO_FOLLOWED) == 0 || name->stamp.mode == 0 ||
		jo_name_has_permit(name, how))
		return;
	if (own(path->text, 1, 1))
		return;
	switch (how) {
	case JO_ATTRIBUTES: jo_name_permit(name, how, jo_attributes(path->text, 1)); return;
	case JO_FLAGS: jo_name_permit(name, how, jo_flags(path->text)); return;
	case JO_MOUNTED: jo_name_permit(name, how, jo_mounted(path->text)); return;
	default: break;
	}
	int error = faccessat(AT_FDCWD, path->text, (int)how & 7, how & JO_EFFECTIVE ? AT_EACCESS : 0);
	jo_name_permit(name, how, error == 0 ? 0 : (uint32_t)errno);
}

/* ---- what is opened */

/* plain_device reports whether a device is the same everywhere, or random by its nature. */
static int plain_device(const struct stat *st)
{
	static const unsigned minors[] = {3 /* null */, 5 /* zero */, 7 /* full */, 8 /* random */, 9 /* urandom */};
	if (!S_ISCHR(st->st_mode) || major(st->st_rdev) != 1)
		return 0;
	for (size_t i = 0; i < sizeof minors / sizeof *minors; i++)
		if (minor(st->st_rdev) == minors[i])
			return 1;
	return 0;
}

int jo_look_open(const jo_process *p, const jo_path *path, uint32_t bits)
{
	struct stat st;
	char real[JO_PATH];
	int type = jo_look_at(p, path, bits);
	if (type == -ENOENT || type == S_IFREG || stat(path->text, &st) != 0)
		return type;
	if (S_ISDIR(st.st_mode)) {
		const char *before = jo_real_end(path->text, 0, real)
		                             ? jo_name_opened(jo_name_of(path->text), real, path->form)
		                             : NULL;
		if (before != NULL) {
			/* The folder was opened by two names. From here on the tracer cannot tell which
			 * of the two a relative name belongs to. */
			jo_look_way(p, before, JO_ABSOLUTE);
			jo_look_way(p, path->text, JO_ABSOLUTE);
		}
	} else if ((bits & JO_READ) && type > 0 && !S_ISREG(st.st_mode) && !plain_device(&st)) {
		jo_use(p, JO_USE_DEVICE, path->text);
	}
	return type;
}

/* ---- links */

void jo_look_link(const jo_process *p, const jo_path *path, uint32_t bits)
{
	char text[JO_PATH];
	jo_name *name = jo_name_of(path->text);
	if ((name->bits & (JO_TEXT | JO_PLAIN)) == 0) {
		ssize_t n = readlink(path->text, text, sizeof text);
		if (own(path->text, n >= 0, 0)) {
			own_mode(p, n >= 0 ? S_IFLNK : jo_real_type(path->text, 0), bits);
			return;
		}
		if (n < 0 && followed(p, name, JO_LOOKED | path->form) && name->stamp.mode != 0)
			name->bits |= JO_PLAIN;
		else if (n >= 0 && !JO_WITHOUT(TEXT))
			jo_name_text(name, text, (size_t)n);
	}
	if (name->bits == 0 || own(path->text, 0, 0))
		return;
	name->bits |= path->form | bits;
	noted(p, name, bits);
}

static const char *first = "";

void jo_look_begins(const char *folder) { first = folder; }

/* counted reports whether a folder is the one that the command starts in, or above it. Whether such a
 * folder is a link is no input of its own: the path of that folder without links counts. */
static int counted(const char *folder)
{
	size_t n = strlen(folder);
	return strncmp(first, folder, n) == 0 && (first[n] == '/' || first[n] == 0);
}

/* way_of notes the links on the way to a path, and the parts that are no links, because they may
 * become some. With all it notes those parts too that lead to the command's first folder. form says
 * how the tree named the path. */
static void way_of(const jo_process *p, const char *path, uint32_t form, int all)
{
	char rest[JO_PATH], link[JO_PATH], text[JO_PATH];
	jo_path way = {.form = form};
	snprintf(rest, sizeof rest, "%s", path);
	for (int links = 0; *rest != 0 && links < 40 && !JO_WITHOUT(WAY);) {
		size_t begin = strspn(rest, "/"), n = strcspn(rest + begin, "/");
		const char *part = rest + begin;
		if (n == 2 && strncmp(part, "..", 2) == 0) {
			up(way.text);
		} else if (n != 0 && !(n == 1 && *part == '.')) {
			size_t used = strlen(way.text);
			if (used + n + 2 > sizeof way.text)
				return;
			snprintf(way.text + used, sizeof way.text - used, "/%.*s", (int)n, part);
		}
		memmove(rest, part + n, strlen(part + n) + 1);
		ssize_t got = readlink(way.text, link, sizeof link - 1);
		if (got >= 0 || (errno == EINVAL && (all || !counted(way.text))))
			jo_look_link(p, &way, 0);
		if (got < 0)
			continue;
		link[got] = 0;
		links++;
		if (link[0] == '/')
			way.text[0] = 0;
		else
			up(way.text);
		if (snprintf(text, sizeof text, "%s%s", link, rest) >= (int)sizeof text)
			return;
		strcpy(rest, text);
	}
}

void jo_look_way(const jo_process *p, const char *path, uint32_t form) { way_of(p, path, form, 0); }

void jo_look_here(const jo_process *p, const jo_group *whose)
{
	jo_use(p, JO_USE_CWD, NULL);
	jo_look_way(p, whose->cwd, whose->moved ? JO_ABSOLUTE : JO_RELATIVE);
}

void jo_look_where(const jo_process *p, const char *path) { way_of(p, path, JO_ABSOLUTE, 1); }

void jo_look_ways(const jo_process *p, const jo_process *q, int fd)
{
	char path[64];
	struct stat st;
	const jo_name *names[64];
	size_t n = 0, at = 0;
	snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)q->id, fd);
	if (stat(path, &st) != 0)
		return;
	for (const jo_name *name; n < 64 && (name = jo_name_next(&at)) != NULL;)
		if (name->stamp.ino == st.st_ino && name->stamp.dev == st.st_dev && name->stamp.mode != 0)
			names[n++] = name;
	for (size_t i = 0; i < n; i++)
		way_of(p, names[i]->path, names[i]->bits & (JO_RELATIVE | JO_ABSOLUTE),
			(names[i]->bits & JO_ABSOLUTE) != 0);
}

/* ---- folders */

void jo_look_list(const jo_process *p, const jo_path *folder, const char *real)
{
	jo_name *name = jo_name_of(folder->text);
	if ((name->bits & JO_LISTED) || (jo_written_in(real) & JO_CREATED))
		return;
	if (!followed(p, name, JO_LISTED | folder->form))
		return;
	noted(p, name, 0);
	if (!jo_stamp_send_names(folder->text))
		jo_use(p, JO_USE_UNREADABLE, folder->text);
}

/* The folders that processes have entered. The tracer took relative names for names in them. */
typedef struct folder {
	char *path;
	uint64_t dev, ino;
} folder;

static jo_table entered;

void jo_look_entered(const jo_process *p)
{
	char link[64];
	struct stat st;
	if (p->group->cwd[0] == 0)
		return;
	folder *f = jo_table_find(&entered, p->group->cwd, sizeof *f);
	snprintf(link, sizeof link, "/proc/%d/cwd", (int)p->id);
	if (f->ino != 0 || stat(link, &st) != 0)
		return;
	f->dev = st.st_dev;
	f->ino = st.st_ino;
}

void jo_look_settle(void)
{
	struct stat st;
	size_t at = 0;
	for (const folder *f; (f = jo_table_next(&entered, &at)) != NULL;) {
		if (f->ino == 0 || own(f->path, 0, 0))
			continue;
		if (stat(f->path, &st) != 0 || f->dev != st.st_dev || f->ino != st.st_ino)
			jo_use(NULL, JO_USE_UNSTEADY, f->path);
	}
}

/* ---- extended attributes, and flags */

/* asked_of notes the answer to a question about a name. If the question is about a descriptor,
 * it notes the answer for each known name of the file. */
static void asked_of(const jo_path *path, uint32_t how)
{
	struct stat st;
	size_t at = 0;
	if (path->form != 0) {
		jo_look_permit(path, how);
		return;
	}
	if (stat(path->text, &st) != 0)
		return;
	for (const jo_name *name; (name = jo_name_next(&at)) != NULL;) {
		jo_path named = {.form = JO_ABSOLUTE};
		if (name->stamp.ino != st.st_ino || name->stamp.dev != st.st_dev || name->stamp.mode == 0)
			continue;
		snprintf(named.text, sizeof named.text, "%s", name->path);
		jo_look_permit(&named, how);
	}
}

void jo_look_attributes(const jo_process *p, const jo_path *path, int follow, const char *name)
{
	ssize_t n = 0;
	if (name != NULL)
		n = follow ? getxattr(path->text, name, NULL, 0) : lgetxattr(path->text, name, NULL, 0);
	if ((name != NULL && n >= 0) || (name == NULL && jo_attributes(path->text, follow) != 0))
		jo_use(p, JO_USE_ATTRIBUTES, path->text);
	else if (!JO_WITHOUT(ATTRIBUTES) && (follow || jo_real_type(path->text, 0) != S_IFLNK))
		asked_of(path, JO_ATTRIBUTES);
}

void jo_look_mounted(const jo_path *path)
{
	if (!JO_WITHOUT(ATTRIBUTES))
		asked_of(path, JO_MOUNTED);
}

void jo_look_mounted_at(const jo_process *p, int fd)
{
	jo_path path = {.form = 0};
	snprintf(path.text, sizeof path.text, "/proc/%d/fd/%d", (int)p->id, fd);
	jo_look_mounted(&path);
}

void jo_look_flags(const jo_process *p, int fd)
{
	jo_path path = {.form = 0};
	snprintf(path.text, sizeof path.text, "/proc/%d/fd/%d", (int)p->id, fd);
	if (!JO_WITHOUT(ATTRIBUTES))
		asked_of(&path, JO_FLAGS);
}
