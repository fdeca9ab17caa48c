#include "execute.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "filter.h"
#include "look.h"
#include "names.h"
#include "report.h"

static int privileged;

int jo_execute_privileged(void) { return privileged; }

/* gains reports whether running a file gives privileges. */
static int gains(int fd)
{
	struct stat st;
	if (fstat(fd, &st) != 0)
		return 0;
	return ((st.st_mode & S_ISUID) && st.st_uid != geteuid()) || ((st.st_mode & S_ISGID) && st.st_gid != getegid()) ||
	       fgetxattr(fd, "security.capability", NULL, 0) > 0;
}

/* interpreter returns what a script's first line names, NULL if it is none; head
 * is changed. */
static char *interpreter(char *head)
{
	if (head[0] != '#' || head[1] != '!')
		return NULL;
	char *name = head + 2 + strspn(head + 2, " \t");
	name[strcspn(name, " \t\n")] = 0;
	return *name == 0 ? NULL : name;
}

/* loader finds what a program for this kind of machine names to load it. */
static int loader(int fd, const char *head, size_t n, char *into, size_t size)
{
	Elf64_Ehdr e;
	if (n < sizeof e)
		return 0;
	memcpy(&e, head, sizeof e);
	if (memcmp(e.e_ident, ELFMAG, SELFMAG) != 0 || e.e_ident[EI_CLASS] != ELFCLASS64)
		return 0;
	for (unsigned i = 0; i < e.e_phnum && i < 64; i++) {
		Elf64_Phdr h;
		if (pread(fd, &h, sizeof h, (off_t)(e.e_phoff + i * sizeof h)) != (ssize_t)sizeof h)
			return 0;
		if (h.p_type != PT_INTERP)
			continue;
		if (h.p_filesz == 0 || h.p_filesz > size || pread(fd, into, h.p_filesz, (off_t)h.p_offset) != (ssize_t)h.p_filesz)
			return 0;
		return into[h.p_filesz - 1] == 0;
	}
	return 0;
}

/* expects remembers what is to run in the end. Anything else was chosen by
 * binfmt_misc, of whose table the tracer knows nothing. */
static void expects(jo_process *p, int fd)
{
	struct stat st;
	if (fstat(fd, &st) == 0) {
		p->expected_dev = st.st_dev;
		p->expected_ino = st.st_ino;
	}
}

void jo_execute_call(jo_process *p, const char *path)
{
	char name[JO_PATH], found[JO_PATH], head[257];
	snprintf(name, sizeof name, "%s", path);
	/* Scripts may name scripts; the kernel goes no deeper either. */
	for (int depth = 0; depth < 6; depth++) {
		if (jo_look_at(p, name, JO_RUN) != S_IFREG || access(name, X_OK) != 0)
			return; /* it fails */
		int fd = open(name, O_RDONLY | O_CLOEXEC);
		if (fd < 0) { /* allowed to run, and not to read */
			jo_look_used(p, JO_USE_UNREADABLE, name);
			return;
		}
		ssize_t n = pread(fd, head, sizeof head - 1, 0);
		head[n < 0 ? 0 : n] = 0;
		if (gains(fd)) {
			jo_look_used(p, JO_USE_PRIVILEGE, name);
			privileged |= jo_filter_lowers();
		}
		expects(p, fd);
		char *next = interpreter(head);
		if (next == NULL && loader(fd, head, n < 0 ? 0 : (size_t)n, found, sizeof found)) {
			close(fd);
			char absolute[JO_PATH];
			if (jo_look_absolute(p, AT_FDCWD, found, absolute))
				jo_look_at(p, absolute, JO_RUN);
			return;
		}
		close(fd);
		if (next == NULL || !jo_look_absolute(p, AT_FDCWD, next, found))
			return;
		snprintf(name, sizeof name, "%s", found);
	}
}

/* ---- programs by number */

enum { PROGRAMS = 4096, ARGUMENTS = 1 << 17 };

static struct {
	char *path;
	int id;
} programs[PROGRAMS];
static int nprograms;

static int number_of(const char *path)
{
	for (int i = 0; i < nprograms; i++)
		if (strcmp(programs[i].path, path) == 0)
			return i;
	if (nprograms == PROGRAMS)
		return PROGRAMS;
	programs[nprograms].path = strdup(path);
	return programs[nprograms].path == NULL ? PROGRAMS : nprograms++;
}

static void report_program(const jo_process *p, int id, const char *path)
{
	static char arguments[ARGUMENTS];
	char file[64];
	snprintf(file, sizeof file, "/proc/%d/cmdline", (int)p->id);
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	size_t n = 0;
	for (ssize_t got; fd >= 0 && n < sizeof arguments && (got = read(fd, arguments + n, sizeof arguments - n)) > 0;)
		n += (size_t)got;
	if (fd >= 0)
		close(fd);
	jo_report_begin(JO_PROGRAM);
	jo_report_u32((uint32_t)id);
	jo_report_string(path, strlen(path));
	jo_report_string(arguments, n);
	jo_report_end();
}

/* hide_clock takes the kernel's page of functions out of what a new program is
 * told (getauxval): then it has to ask the kernel for the time, and is seen. */
static void hide_clock(jo_process *p, uint64_t stack)
{
	uint64_t word, pair[2];
	uint64_t at = stack;
	if (!jo_process_read(p, at, &word, sizeof word) || word > 1 << 20) /* the number of arguments */
		return;
	at += 8 * (word + 2);
	do { /* the environment */
		if (!jo_process_read(p, at, &word, sizeof word))
			return;
		at += 8;
	} while (word != 0);
	for (int i = 0; i < 64 && jo_process_read(p, at, pair, sizeof pair) && pair[0] != AT_NULL; i++, at += sizeof pair)
		if (pair[0] == AT_SYSINFO_EHDR) {
			pair[0] = AT_IGNORE;
			if (jo_process_write(p, at, pair, sizeof pair))
				return;
		}
}

void jo_execute_done(jo_process *p, uint64_t stack)
{
	char link[64], path[JO_PATH];
	struct stat st;
	jo_process_exec(p);
	snprintf(link, sizeof link, "/proc/%d/exe", (int)p->id);
	ssize_t n = readlink(link, path, sizeof path - 1);
	path[n < 0 ? 0 : n] = 0;
	p->group->program = number_of(path);
	if (stat(link, &st) != 0 || st.st_dev != p->expected_dev || st.st_ino != p->expected_ino)
		jo_look_used(p, JO_USE_FOREIGN, path);
	report_program(p, p->group->program, path);
	hide_clock(p, stack);
}
