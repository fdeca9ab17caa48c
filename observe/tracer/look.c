#include "look.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "absent.h"
#include "names.h"
#include "report.h"
#include "stamp.h"
#include "watch.h"

/* ---- uses */

typedef struct use {
	struct use *next;
	int what;
	uint64_t programs;
	char detail[];
} use;

static use *uses;

static uint64_t bit_of(const jo_process *p)
{
	int id = p->group->program;
	return UINT64_C(1) << (id < 0 || id > 63 ? 63 : id);
}

void jo_look_used(const jo_process *p, int what, const char *detail)
{
	if (detail == NULL)
		detail = "";
	use *u = uses;
	while (u != NULL && (u->what != what || strcmp(u->detail, detail) != 0))
		u = u->next;
	if (u == NULL) {
		u = calloc(1, sizeof *u + strlen(detail) + 1);
		if (u == NULL)
			_exit(125);
		u->what = what;
		strcpy(u->detail, detail);
		u->next = uses;
		uses = u;
	}
	u->programs |= bit_of(p);
}

void jo_look_report(void)
{
	for (const use *u = uses; u != NULL; u = u->next) {
		jo_report_begin(JO_USE);
		jo_report_u32((uint32_t)u->what);
		jo_report_u64(u->programs);
		jo_report_string(u->detail, strlen(u->detail));
		jo_report_end();
	}
}

/* ---- descriptors that the command came with */

static struct {
	int fd;
	dev_t dev;
	ino_t ino;
} came[64];
static int ncame;

void jo_look_start(const int *inherited, int n)
{
	struct stat st;
	for (int i = 0; i < n && ncame < 64; i++)
		if (fstat(inherited[i], &st) == 0) {
			came[ncame].fd = inherited[i];
			came[ncame].dev = st.st_dev;
			came[ncame++].ino = st.st_ino;
		}
}

int jo_look_inherited(const jo_process *p, int fd)
{
	char path[64];
	struct stat st;
	snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)p->id, fd);
	if (stat(path, &st) != 0)
		return 0;
	for (int i = 0; i < ncame; i++)
		if (came[i].dev == st.st_dev && came[i].ino == st.st_ino) {
			snprintf(path, sizeof path, "%d", came[i].fd);
			jo_look_used(p, came[i].fd == 0 ? JO_USE_INPUT : JO_USE_DESCRIPTOR, came[i].fd == 0 ? NULL : path);
			return 1;
		}
	return 0;
}

/* ---- paths */

static uint32_t form;

uint32_t jo_look_form(void) { return form; }

int jo_look_absolute(const jo_process *p, int folder, const char *path, char *into)
{
	form = JO_ABSOLUTE;
	const char *base = "";
	char buffer[JO_PATH];
	if (path[0] != '/') {
		if (folder == AT_FDCWD) {
			base = p->group->cwd;
			form = p->group->moved ? JO_ABSOLUTE : JO_RELATIVE;
		} else {
			if (jo_process_descriptor(p, folder, buffer, sizeof buffer) < 0 || buffer[0] != '/')
				return 0;
			base = jo_name_folder(buffer, &form);
		}
	}
	size_t a = strlen(base), b = strlen(path);
	if (a + b + 2 > JO_PATH)
		return 0;
	memcpy(into, base, a);
	if (path[0] != '/' && (a == 0 || base[a - 1] != '/'))
		into[a++] = '/';
	memcpy(into + a, path, b + 1);
	return 1;
}

/* without_links opens a path, and asks /proc where that has led. */
static int without_links(const char *path, int flags, char *into, size_t size)
{
	char link[64];
	int fd = open(path, O_PATH | O_CLOEXEC | flags);
	if (fd < 0)
		return 0;
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	ssize_t n = readlink(link, into, size - 1);
	close(fd);
	if (n < 0 || n == (ssize_t)size - 1 || into[0] != '/')
		return 0;
	into[n] = 0;
	return 1;
}

/* Where folders really are: a compile looks for many names in few of them. */
enum { KNOWN = 512 };
static struct {
	char *folder, *real;
} known[KNOWN];

void jo_look_moved(void)
{
	for (int i = 0; i < KNOWN; i++) {
		free(known[i].folder);
		free(known[i].real);
		known[i].folder = known[i].real = NULL;
	}
}

static const char *real_folder(const char *folder)
{
	static char buffer[JO_PATH];
	uint32_t h = 0;
	for (const char *c = folder; *c != 0; c++)
		h = h * 31 + (uint8_t)*c;
	h %= KNOWN;
	if (known[h].folder != NULL && strcmp(known[h].folder, folder) == 0)
		return known[h].real;
	if (!without_links(*folder == 0 ? "/" : folder, O_DIRECTORY, buffer, sizeof buffer))
		return NULL;
	free(known[h].folder);
	free(known[h].real);
	known[h].folder = strdup(folder);
	known[h].real = strdup(buffer);
	return known[h].folder != NULL ? known[h].real : NULL;
}

const char *jo_look_real(const char *path)
{
	static char buffer[JO_PATH];
	char folder[JO_PATH];
	size_t n = strlen(path);
	while (n > 1 && path[n - 1] == '/')
		n--;
	size_t slash = n;
	while (slash > 0 && path[slash - 1] != '/')
		slash--;
	const char *base = path + slash;
	size_t nbase = n - slash;
	if (slash == 0 || n >= JO_PATH)
		return NULL;
	if (nbase == 0 || (nbase == 1 && base[0] == '.') || (nbase == 2 && base[0] == '.' && base[1] == '.'))
		return without_links(path, 0, buffer, sizeof buffer) ? buffer : NULL;
	memcpy(folder, path, slash - 1);
	folder[slash - 1] = 0;
	const char *real = real_folder(folder);
	if (real == NULL || snprintf(buffer, sizeof buffer, "%s/%.*s", real[1] == 0 ? "" : real, (int)nbase, base) >= JO_PATH)
		return NULL;
	return buffer;
}

unsigned jo_look_type(const char *path, int follow)
{
	struct stat st;
	return (follow ? stat(path, &st) : lstat(path, &st)) == 0 ? st.st_mode & S_IFMT : 0;
}

/* own reports whether what is at a path, or is not any more, is the tree's doing,
 * whatever way leads there. */
static int own(const char *path, int exists)
{
	char buffer[JO_PATH];
	if (!jo_wrote_any())
		return 0;
	const char *real = jo_may_be_written(path) ? jo_look_real(path) : NULL;
	if (real != NULL && (jo_written_in(real) & (JO_CREATED | JO_REPLACED | JO_REMOVED)))
		return 1;
	return exists && without_links(path, 0, buffer, sizeof buffer) &&
	       (jo_written_in(buffer) & (JO_CREATED | JO_REPLACED)) != 0;
}

/* ---- what /proc says of the processes of the tree
 *
 * It follows from what they are and do. Three things in it lead elsewhere: the
 * descriptors, the folder that the process is in, and the root. */
#define ROOT "/root" "/"

static int own_process(const jo_process *p, const char *path)
{
	if (strncmp(path, "/proc/", 6) != 0)
		return 0;
	const char *rest = strchr(path + 6, '/');
	size_t n = rest == NULL ? strlen(path + 6) : (size_t)(rest - path - 6);
	if (strncmp(path + 6, "self", n) != 0 && strncmp(path + 6, "thread-self", n) != 0) {
		char *end;
		long id = strtol(path + 6, &end, 10);
		if (end != path + 6 + n || n == 0)
			return 0; /* of the system: a name like any other */
		if (jo_process_of((pid_t)id, 0) == NULL) {
			jo_look_used(p, JO_USE_TRACE, path);
			return 1;
		}
	}
	if (rest == NULL)
		return 1;
	if (strncmp(rest, "/task/", 6) == 0 && strchr(rest + 6, '/') != NULL)
		rest = strchr(rest + 6, '/');
	if (strcmp(rest, "/status") == 0)
		jo_watch_unpin(); /* it says which CPUs there are */
	else if (strncmp(rest, "/cwd", 4) == 0)
		jo_look_used(p, rest[4] == 0 ? JO_USE_CWD : JO_USE_UNKNOWN, rest[4] == 0 ? NULL : path);
	else if (strncmp(rest, ROOT, sizeof ROOT - 1) == 0)
		jo_look_used(p, JO_USE_UNKNOWN, path);
	else if (strncmp(rest, "/fd/", 4) == 0 && rest[4] >= '0' && rest[4] <= '9')
		jo_look_inherited(p, atoi(rest + 4));
	return 1;
}

/* own_descriptor handles other names of a process's descriptors. */
static int own_descriptor(const jo_process *p, const char *path)
{
	if (strncmp(path, "/dev/fd/", 8) == 0 && path[8] >= '0' && path[8] <= '9')
		jo_look_inherited(p, atoi(path + 8));
	else if (strcmp(path, "/dev/stdin") == 0)
		jo_look_inherited(p, 0);
	else
		return strcmp(path, "/dev/stdout") == 0 || strcmp(path, "/dev/stderr") == 0;
	return 1;
}

/* ---- looking */

/* Devices that are the same everywhere, or random by their nature. */
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

static void open_special(const jo_process *p, const char *path)
{
	struct stat st;
	if (stat(path, &st) == 0 && !plain_device(&st))
		jo_look_used(p, JO_USE_DEVICE, path);
}

/* followed notes what a path leads to, the first time that it is asked for. It
 * returns 0 for what the tree has made itself. */
static int followed(jo_name *name, uint32_t bits)
{
	if ((name->bits & JO_FOLLOWED) == 0) {
		jo_stamp stamp = {.error = jo_absent(name->path)};
		if (stamp.error == 0)
			jo_stamp_take(name->path, &stamp);
		if (stamp.mode == 0)
			jo_absent_missed(name->path, stamp.error);
		if (own(name->path, stamp.mode != 0))
			return 0;
		name->stamp = stamp;
	}
	name->bits |= bits;
	unsigned type = name->stamp.mode & S_IFMT;
	if (type == S_IFREG && (bits & (JO_READ | JO_RUN)) && access(name->path, R_OK) != 0)
		name->stamp.error = errno;
	if (type == S_IFREG && (name->bits & (JO_SENT | JO_LARGE)) == 0 && jo_stamp_doubtful(name->path, &name->stamp))
		name->bits |= jo_stamp_send(name->path, name->stamp.size) ? JO_SENT : JO_LARGE;
	return 1;
}

/* appeared: a name that was absent is looked for again. The tree may wait for it. */
static int appeared(const jo_process *p, const jo_name *name)
{
	if (jo_absent(name->path) != 0 || jo_look_type(name->path, 1) == 0)
		return 0;
	if (!own(name->path, 1))
		jo_look_used(p, JO_USE_UNSTEADY, name->path);
	return 1;
}

static void noted(const jo_process *p, jo_name *name, uint32_t bits)
{
	name->programs |= bit_of(p);
	if (bits & JO_STATTED)
		name->statted |= bit_of(p);
}

int jo_look_at(const jo_process *p, const char *path, uint32_t bits)
{
	int fresh;
	if (own_process(p, path) || own_descriptor(p, path))
		return 0;
	jo_name *name = jo_name_of(path, &fresh);
	int inputs = (name->bits & JO_FOLLOWED) != 0;
	bits |= form;
	if (inputs && name->stamp.mode == 0 && appeared(p, name))
		return 0;
	if (!inputs || (name->bits & bits) != bits)
		inputs = followed(name, bits);
	if (bits & JO_LOOKED)
		name->programs |= bit_of(p);
	if (inputs && name->stamp.mode == 0)
		return -name->stamp.error;
	unsigned type = inputs ? name->stamp.mode & S_IFMT : jo_look_type(path, 1);
	char real[JO_PATH];
	if ((bits & JO_READ) && type == S_IFDIR) {
		if (without_links(path, 0, real, sizeof real))
			jo_name_opened(name, real, form);
	} else if ((bits & JO_READ) && inputs && type != S_IFREG && type != 0) {
		open_special(p, path);
	}
	return (int)type;
}

void jo_look_link(const jo_process *p, const char *path, uint32_t bits)
{
	int fresh;
	char text[JO_PATH];
	if (own_process(p, path) || own_descriptor(p, path))
		return;
	jo_name *name = jo_name_of(path, &fresh);
	if ((name->bits & (JO_TEXT | JO_PLAIN)) == 0) {
		ssize_t n = readlink(path, text, sizeof text);
		if (n < 0) {
			if (followed(name, JO_LOOKED | form) && name->stamp.mode != 0)
				name->bits |= JO_PLAIN;
		} else if (!own(path, 1)) {
			jo_name_text(name, text, (size_t)n);
		}
	}
	if (name->bits != 0)
		name->bits |= form | bits;
	noted(p, name, bits);
}

void jo_look_list(const jo_process *p, int fd)
{
	char real[JO_PATH];
	int fresh;
	if (jo_process_descriptor(p, fd, real, sizeof real) < 0 || real[0] != '/')
		return;
	const char *path = jo_name_folder(real, &form);
	if (own_process(p, path))
		return;
	jo_name *name = jo_name_of(path, &fresh);
	if ((name->bits & JO_LISTED) || (jo_written_in(real) & JO_CREATED))
		return;
	if (followed(name, JO_LISTED | form) && !jo_stamp_send_names(path))
		jo_look_used(p, JO_USE_UNREADABLE, path);
}

void jo_look_attributes(const jo_process *p, const char *path, int follow)
{
	ssize_t n = follow ? listxattr(path, NULL, 0) : llistxattr(path, NULL, 0);
	if (n > 0)
		jo_look_used(p, JO_USE_ATTRIBUTES, path);
}
