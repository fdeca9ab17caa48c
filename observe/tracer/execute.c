/* execute.c: execve: programs, scripts and their interpreters. */
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

#include "control.h"
#include "decider.h"
#include "filter.h"
#include "handed.h"
#include "look.h"
#include "names.h"
#include "path.h"
#include "report.h"
#include "use.h"
#include "vdso.h"

static int privileged;

int jo_execute_privileged(void) { return privileged; }

/* gains reports whether a process gains privileges when it runs a file, even one that it may
 * run but not read. */
static int gains(const jo_process *p, const char *path, const struct stat *st)
{
	if (getxattr(path, "security.capability", NULL, 0) > 0)
		return 1;
	if ((st->st_mode & (S_ISUID | S_ISGID)) == 0)
		return 0;
	jo_status is = jo_process_status(p);
	return ((st->st_mode & S_ISUID) && st->st_uid != is.user) ||
	       ((st->st_mode & S_ISGID) && st->st_gid != is.group);
}

/* interpreter returns the interpreter that a script's first line names, NULL if the file is
 * no script. It changes head. */
static char *interpreter(char *head)
{
	if (head[0] != '#' || head[1] != '!')
		return NULL;
	char *name = head + 2 + strspn(head + 2, " \t");
	name[strcspn(name, " \t\n")] = 0;
	return *name == 0 ? NULL : name;
}

/* loader finds the dynamic loader that a 64-bit ELF program names. It returns 0 if there is
 * none. */
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
		if (h.p_filesz == 0 || h.p_filesz > size ||
			pread(fd, into, h.p_filesz, (off_t)h.p_offset) != (ssize_t)h.p_filesz)
			return 0;
		return into[h.p_filesz - 1] == 0;
	}
	return 0;
}

/* reads looks into a file that is to be run. If the file is a script, reads returns 1, and
 * *path is the interpreter, which the kernel reads next. */
static int reads(jo_process *p, int fd, jo_path *path)
{
	char head[257], found[JO_PATH];
	jo_path next;
	ssize_t n = pread(fd, head, sizeof head - 1, 0);
	head[n < 0 ? 0 : n] = 0;
	char *script = interpreter(head);
	if (script == NULL && loader(fd, head, n < 0 ? 0 : (size_t)n, found, sizeof found) &&
		jo_path_make(p, AT_FDCWD, found, 1, &next) == JO_SOMETHING)
		jo_look_at(p, &next, JO_RUN);
	if (script == NULL || jo_path_make(p, AT_FDCWD, script, 1, &next) != JO_SOMETHING)
		return 0;
	*path = next;
	return 1;
}

void jo_execute_call(jo_process *p, const jo_path *path)
{
	jo_path name = *path;
	struct stat st;
	/* An interpreter may be a script too. The kernel goes no deeper either. */
	for (int depth = 0, going = 1; going && depth < 6; depth++) {
		jo_look_at(p, &name, JO_RUN);
		if (stat(name.text, &st) != 0 || !S_ISREG(st.st_mode) || access(name.text, X_OK) != 0)
			return; /* the call will fail */
		jo_decider_runs(p, name.text);
		if (gains(p, name.text, &st)) {
			jo_use(p, JO_USE_PRIVILEGE, name.text);
			privileged |= jo_filter_lowers() && !JO_WITHOUT(PRIVILEGES);
		}
		/* The program that should run in the end. If another one does, binfmt_misc has
		 * chosen it, and the tracer does not know the table of that. */
		p->expected_dev = st.st_dev;
		p->expected_ino = st.st_ino;
		free(p->expected);
		p->expected = strdup(name.text);
		int fd = open(name.text, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
		if (fd < 0) { /* there is permission to run it, but not to read it */
			jo_use(p, JO_USE_UNREADABLE, name.text);
			return;
		}
		going = reads(p, fd, &name);
		close(fd);
	}
}

/* ---- programs by number */

enum { PROGRAMS = 4096 };

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

/* arguments reads the arguments that a process was started with, however long they are. */
static char *arguments(const jo_process *p, size_t *size)
{
	char file[64];
	size_t room = 1 << 16, n = 0;
	char *all = malloc(room);
	snprintf(file, sizeof file, "/proc/%d/cmdline", (int)p->id);
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	for (ssize_t got = 1; fd >= 0 && all != NULL && got > 0;) {
		if (n == room)
			all = realloc(all, room *= 2);
		got = all == NULL ? -1 : read(fd, all + n, room - n);
		n += got > 0 ? (size_t)got : 0;
	}
	if (fd >= 0)
		close(fd);
	if (all == NULL)
		_exit(125);
	*size = n;
	return all;
}

static void report_program(jo_process *p, int id, const char *path)
{
	size_t n;
	char *all = arguments(p, &n);
	jo_report_begin(JO_PROGRAM);
	jo_report_u32((uint32_t)id);
	jo_report_string(path, strlen(path));
	jo_report_string(all, n);
	jo_report_end();
	jo_decider_begins(p, path, all, n);
	free(all);
}

/* hide_clock makes a new program ask the kernel for the time by a system call, which the tracer
 * sees. It changes the functions of the vDSO. Where it cannot, it hides the vDSO: it takes the
 * vDSO's address out of the auxiliary vector (getauxval). It returns 0 if it can do neither. */
static int hide_clock(jo_process *p, uint64_t stack)
{
	uint64_t word, pair[2];
	uint64_t at = stack;
	if (!jo_process_read(p, at, &word, sizeof word) || word > 1 << 20) /* the number of arguments */
		return 0;
	at += 8 * (word + 2);
	do { /* the environment */
		if (!jo_process_read(p, at, &word, sizeof word))
			return 0;
		at += 8;
	} while (word != 0);
	for (int i = 0; i < 64 && jo_process_read(p, at, pair, sizeof pair); i++, at += sizeof pair) {
		if (pair[0] == AT_NULL)
			return 1;
		if (pair[0] == AT_SYSINFO_EHDR) {
			if (!JO_WITHOUT(PAGE) && jo_vdso_asks(p, pair[1]))
				return 1;
			pair[0] = AT_IGNORE;
			return jo_process_write(p, at, pair, sizeof pair);
		}
	}
	return 0;
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
	int is_expected = stat(link, &st) == 0 && st.st_dev == p->expected_dev && st.st_ino == p->expected_ino;
	if (!is_expected)
		jo_use(p, JO_USE_FOREIGN, path);
	free(p->group->exe);
	p->group->exe = is_expected ? p->expected : NULL;
	p->expected = is_expected ? NULL : p->expected;
	report_program(p, p->group->program, path);
	jo_look_entered(p);
	jo_handed(p);
	if (!JO_WITHOUT(VDSO) && !hide_clock(p, stack) && !JO_WITHOUT(AUXILIARY))
		jo_use(p, JO_USE_UNREADABLE, "auxv");
}
