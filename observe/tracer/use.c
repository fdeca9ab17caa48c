/* use.c: notes uses, and the programs that made them. */
#include "use.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "control.h"
#include "front.h"
#include "real.h"
#include "report.h"

typedef struct use {
	struct use *next;
	int what;
	uint64_t programs;
	char detail[];
} use;

static use *uses;

uint64_t jo_use_program(const jo_process *p)
{
	int id = p->group->program;
	return UINT64_C(1) << (id < 0 || id > 63 ? 63 : id);
}

/* for_good reports whether a use certainly keeps the result from being kept: no rule makes it an
 * input, whichever program it is by. The clock, devices, sockets and unknown calls may turn out
 * to be harmless. */
static int for_good(int what)
{
	return what == JO_USE_INPUT || what == JO_USE_DESCRIPTOR || what == JO_USE_NAMESPACE || what == JO_USE_TRACE ||
	       what == JO_USE_FOREIGN || what == JO_USE_SIGNAL || what == JO_USE_IDENTITY || what == JO_USE_HERMETIC;
}

void jo_use(const jo_process *p, int what, const char *detail)
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
		if (for_good(what))
			jo_front_vain();
	}
	u->programs |= p == NULL ? ~UINT64_C(0) : jo_use_program(p);
}

void jo_use_told(const jo_process *p, const char *rest, const char *path)
{
	if (jo_real_mounts(rest) && !JO_WITHOUT(MOUNTS))
		jo_use(p, JO_USE_MOUNTS, path);
	else if (!jo_real_follows(rest) && !jo_real_mounts(rest))
		jo_use(p, JO_USE_UNREADABLE, path);
}

int jo_use_blind(void)
{
	for (const use *u = uses; u != NULL && !JO_WITHOUT(BLINDNESS); u = u->next)
		if (u->what == JO_USE_NAMESPACE || u->what == JO_USE_FOREIGN)
			return 1;
	return 0;
}

int jo_use_outside(void)
{
	for (const use *u = uses; u != NULL; u = u->next)
		switch (u->what) {
		case JO_USE_CWD:
		case JO_USE_CLOCK:
		case JO_USE_HOST:
		case JO_USE_LIMITS:
		case JO_USE_UMASK:
		case JO_USE_PRIVILEGE:
		case JO_USE_ATTRIBUTES:
		case JO_USE_UNREADABLE:
		case JO_USE_DENIED:
		case JO_USE_STDIN:
		case JO_USE_GIVEN:
		case JO_USE_HERMETIC:
		case JO_USE_UNSTEADY: break;
		default: return 1;
		}
	return 0;
}

void jo_use_report(void)
{
	for (const use *u = uses; u != NULL; u = u->next) {
		jo_report_begin(JO_USE);
		jo_report_u32((uint32_t)u->what);
		jo_report_u64(u->programs);
		jo_report_string(u->detail, strlen(u->detail));
		jo_report_end();
	}
}

/* ---- descriptors that the command was started with */

enum { CAME = 64 };

static struct {
	int fd;
	int null;
	dev_t dev;
	ino_t ino;
} came[CAME];
static int ncame;

void jo_use_came(const int *fds, int n)
{
	struct stat st;
	for (int i = 0; i < n && ncame < CAME; i++)
		if (fstat(fds[i], &st) == 0) {
			came[ncame].fd = fds[i];
			came[ncame].null = S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3);
			came[ncame].dev = st.st_dev;
			came[ncame++].ino = st.st_ino;
		}
}

int jo_use_given_number(int fd)
{
	for (int i = 0; i < ncame; i++)
		if (came[i].fd == fd)
			return 1;
	return 0;
}

/* given returns the index in came of the file of a descriptor, -1 if it is none of those. */
static int given(const jo_process *p, int fd)
{
	char path[64];
	struct stat st;
	snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)p->id, fd);
	if (ncame == 0)
		return -1;
	if (stat(path, &st) != 0) {
		if (errno != ENOENT) /* the process hides itself: prctl(PR_SET_DUMPABLE) */
			jo_use(p, JO_USE_UNREADABLE, "descriptors");
		return -1;
	}
	for (int i = 0; i < ncame; i++)
		if (came[i].dev == st.st_dev && came[i].ino == st.st_ino)
			return i;
	return -1;
}

int jo_use_given_as(const jo_process *p, int fd)
{
	int i = given(p, fd);
	return i < 0 ? -1 : came[i].fd;
}

int jo_use_inherited(const jo_process *p, int fd)
{
	char number[16];
	int i = given(p, fd);
	if (i < 0)
		return 0;
	snprintf(number, sizeof number, "%d", came[i].fd);
	if (came[i].null)
		jo_use(p, JO_USE_STDIN, "use");
	else if (came[i].fd == 0)
		jo_use(p, JO_USE_INPUT, NULL);
	else
		jo_use(p, JO_USE_DESCRIPTOR, number);
	return 1;
}
