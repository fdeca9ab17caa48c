/* decider.c: recognises programs that decide by times. */
#include "decider.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "control.h"
#include "hermetic.h"
#include "loader.h"
#include "real.h"

/* Shells compare times by words of the scripts that they are given. */
static const char *const shells[] = {"sh", "dash", "bash", "rbash", "ksh", "ksh93", "lksh", "mksh", "zsh", "ash",
	"yash", "posh", "busybox", "toybox"};

/* What else runs scripts that are named in their words. */
static const char *const interpreters[] = {"python", "pypy", "perl", "ruby", "node", "lua", "tclsh", "guile"};

/* The largest file that is looked through. A shell also reads the archive of locales, of some 3 MB. */
enum { SCRIPT = 16 << 20 };

static char **rows;

void jo_decider_names(char **all) { rows = all; }

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash == NULL ? path : slash + 1;
}

/* is_named reports whether a program has a name of n bytes, perhaps with a version behind it. */
static int is_named(const char *program, const char *name, size_t n)
{
	return strncmp(program, name, n) == 0 && program[n + strspn(program + n, "-.0123456789")] == 0;
}

static int is_among(const char *program, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (is_named(program, names[i], strlen(names[i])))
			return 1;
	return 0;
}

static int is_shell(const char *program) { return is_among(program, shells, sizeof shells / sizeof *shells); }

static void end(const jo_process *p, const char *who, const char *what)
{
	char why[256];
	snprintf(why, sizeof why, "%.120s %s", who, what);
	if (!JO_WITHOUT(DECIDERS))
		jo_hermetic_end(p, why);
}

/* is_of_gcc reports whether a process is about to run a program for gcc's lto-wrapper: that runs make for files that
 * are not there yet, without prerequisites. */
static int is_of_gcc(const jo_process *p)
{
	return p->group->exe != NULL && strcmp(base_of(p->group->exe), "lto-wrapper") == 0;
}

void jo_decider_runs(const jo_process *p, const char *path)
{
	char real[JO_PATH];
	const char *given = base_of(path), *found = jo_real_end(path, 0, real) ? base_of(real) : given;
	for (char **row = rows; jo_hermetic() && *row != NULL; row++) {
		size_t n = strlen(*row);
		if (strchr(*row, ' ') == NULL && !is_of_gcc(p) &&
			(is_named(given, *row, n) || is_named(found, *row, n)))
			end(p, *row, "decides by times");
	}
}

/* matches reports whether a word, or the last part of a path, begins as a row asks; or is a group of short options with
 * the one that it asks for. */
static int matches(const char *word, const char *wanted)
{
	if (wanted[0] == '-' && wanted[1] != '-' && wanted[1] != 0 && wanted[2] == 0)
		return word[0] == '-' && word[1] != '-' && strchr(word, wanted[1]) != NULL;
	return strncmp(base_of(word), wanted, strlen(wanted)) == 0;
}

/* compares reports whether a text has one of the words by which a shell compares times: -nt and -ot, between blanks,
 * quotes or ends of lines. */
static int compares(const char *text, size_t n)
{
	for (size_t i = 0; i + 3 <= n; i++) {
		if (text[i] != '-' || text[i + 2] != 't' || (text[i + 1] != 'n' && text[i + 1] != 'o'))
			continue;
		int before = i == 0 || isspace((unsigned char)text[i - 1]) || strchr("\"'\\", text[i - 1]) != NULL;
		int after = i + 3 == n || isspace((unsigned char)text[i + 3]) || strchr("\"'\\", text[i + 3]) != NULL;
		if (before && after)
			return 1;
	}
	return 0;
}

/* is_fed reports whether a shell with these words reads its commands from standard input, where nobody can look for
 * words in them. */
static int is_fed(const char *words, const char *end)
{
	for (const char *w = words + strlen(words) + 1; w < end; w += strlen(w) + 1) {
		if (w[0] != '-' && w[0] != '+')
			return 0; /* a script, or what -c stands before */
		if (w[1] != '-' && strchr(w, 's') != NULL)
			return 1;
		if (w[1] == 'o' || w[1] == 'O')
			w += strlen(w) + 1;
	}
	return 1;
}

/* runs_script looks for the script that an interpreter is to run: its first word that is no option. There is none
 * behind an option that has one of the letters of code. */
static void runs_script(const jo_process *p, const char *words, const char *all, const char *code)
{
	const char *script = words + strlen(words) + 1;
	for (; script < all && script[0] == '-'; script += strlen(script) + 1)
		if (script[1] != '-' && strpbrk(script, code) != NULL)
			return;
	for (char **row = rows; script < all && *row != NULL; row++)
		if (strchr(*row, ' ') == NULL && is_named(base_of(script), *row, strlen(*row)))
			end(p, *row, "decides by times");
}

/* begins_shell looks at the words of a shell. */
static void begins_shell(jo_process *p, const char *name, const char *words, size_t n)
{
	const char *all = words + n;
	p->group->shell = 1;
	runs_script(p, words, all, "c");
	for (const char *w = words; w < all; w += strlen(w) + 1)
		if (compares(w, strlen(w)))
			end(p, "what a shell is told", "compares times (-nt, -ot)");
	if (is_fed(words, all))
		end(p, name, "reads its commands from standard input, unseen");
}

void jo_decider_begins(jo_process *p, const char *path, const char *words, size_t n)
{
	p->group->shell = 0;
	if (!jo_hermetic() || n == 0 || words[n - 1] != 0)
		return;
	const char *names[] = {base_of(path), base_of(words)}, *all = words + n;
	for (int i = 0; i < 2; i++) {
		if (is_shell(names[i])) {
			begins_shell(p, names[i], words, n);
			return;
		}
		if (is_among(names[i], interpreters, sizeof interpreters / sizeof *interpreters))
			runs_script(p, words, all, "ce");
		for (char **row = rows; *row != NULL; row++) {
			const char *wanted = strchr(*row, ' ');
			if (wanted == NULL || !is_named(names[i], *row, (size_t)(wanted - *row)))
				continue;
			for (const char *w = words; w < all; w += strlen(w) + 1)
				if (matches(w, wanted + 1))
					end(p, *row, "decides by times");
		}
	}
}

void jo_decider_reads(const jo_process *p, const char *path)
{
	struct stat st;
	if (!jo_hermetic() || !p->group->shell || jo_loader_reads(p, path) || stat(path, &st) != 0 ||
		!S_ISREG(st.st_mode))
		return;
	if (st.st_size > SCRIPT) {
		end(p, base_of(path), "is too long to look for -nt and -ot");
		return;
	}
	char *text = malloc((size_t)st.st_size + 1);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	ssize_t n = fd < 0 || text == NULL ? -1 : read(fd, text, (size_t)st.st_size);
	if (fd >= 0)
		close(fd);
	if (n > 0 && compares(text, (size_t)n))
		end(p, base_of(path), "compares times (-nt, -ot)");
	free(text);
}
