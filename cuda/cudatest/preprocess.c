/* preprocess.c: a small preprocessor that is right in what it does: #include
 * with NVRTC's rules (those of 12.9 and 13.5, measured), object-like macros,
 * conditions, __has_include, #pragma once, #error, #warning and comments.
 * It does not expand function-like macros, macros in values of macros, or macros in
 * the text.
 *
 * An included name means, in this order: a header in memory of exactly that name; for
 * "…", a file in the folder of the including file, which is the folder in that file's
 * name, in memory or not, or the working directory if the name has none; a file in a
 * folder of -I.
 */
#define _GNU_SOURCE
#include "preprocess.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void text_add(text *t, const char *s, size_t n)
{
	t->p = realloc(t->p, t->n + n + 1);
	memcpy(t->p + t->n, s, n);
	t->n += n;
	t->p[t->n] = 0;
}

void text_print(text *t, const char *format, ...)
{
	char *s = NULL;
	va_list args;
	va_start(args, format);
	int n = vasprintf(&s, format, args);
	va_end(args);
	if (n >= 0)
		text_add(t, s, (size_t)n);
	free(s);
}

static int word(const char *p)
{
	int n = 0;
	while (isalnum((unsigned char)p[n]) || p[n] == '_')
		n++;
	return n;
}

static const char *blank(const char *p) { return p + strspn(p, " \t\r"); }

static int find_macro(const reading *r, const char *name, int n)
{
	int i = r->nmacros;
	while (--i >= 0 && (strncmp(r->macros[i].name, name, (size_t)n) != 0 || r->macros[i].name[n] != 0))
		;
	return i;
}

static void undefine(reading *r, const char *name, int n)
{
	int i = find_macro(r, name, n);
	if (i < 0)
		return;
	free(r->macros[i].name);
	free(r->macros[i].value);
	r->macros[i] = r->macros[--r->nmacros];
}

static void set_macro(reading *r, const char *name, int n, const char *value)
{
	undefine(r, name, n);
	if (n == 0 || r->nmacros == MAX_MACROS)
		return;
	r->macros[r->nmacros].name = strndup(name, (size_t)n);
	r->macros[r->nmacros++].value = strdup(value);
}

void define(reading *r, const char *definition)
{
	int n = word(definition);
	set_macro(r, definition, n, definition[n] == '=' ? definition + n + 1 : "1");
}

static char *read_file(const char *path)
{
	text t = {0};
	char buf[4096];
	FILE *f = fopen(path, "re");
	if (f == NULL)
		return NULL;
	text_add(&t, "", 0);
	for (size_t n; (n = fread(buf, 1, sizeof buf, f)) > 0;)
		text_add(&t, buf, n);
	int bad = ferror(f); /* a folder can be opened, but not read */
	fclose(f);
	if (bad)
		free(t.p);
	return bad ? NULL : t.p;
}

/* look finds the file of an included name. The caller frees the content, and the name
 * that the file then has. */
static char *look(const reading *r, const char *from, const char *spelled, int quoted, char **name)
{
	char *content = NULL;
	for (int i = 0; i < r->nheaders; i++)
		if (strcmp(r->names[i], spelled) == 0)
			return *name = strdup(spelled), strdup(r->headers[i]);
	const char *slash = strrchr(from, '/');
	int folder = slash != NULL ? (int)(slash - from) + 1 : 0;
	for (int i = quoted ? -1 : 0; i < r->nfolders && content == NULL; i++) {
		int n = spelled[0] == '/' ? asprintf(name, "%s", spelled)
		        : i < 0           ? asprintf(name, "%.*s%s", folder, from, spelled)
		                          : asprintf(name, "%s/%s", r->folders[i], spelled);
		if (n < 0)
			abort();
		content = read_file(*name);
		if (content == NULL)
			free(*name);
	}
	return content;
}

/* spelled reads "name" or <name>, and returns the rest of the line; NULL if it is
 * neither. */
static const char *spelled_name(const char *p, char name[256], int *quoted)
{
	char end = *p == '"' ? '"' : *p == '<' ? '>' : 0;
	const char *close = end != 0 ? strchr(p + 1, end) : NULL;
	if (close == NULL || close - p > 255)
		return NULL;
	*quoted = end == '"';
	snprintf(name, 256, "%.*s", (int)(close - p) - 1, p + 1);
	return close + 1;
}

/* Conditions: a recursive descent parser, with the position in p. */
struct condition {
	reading *r;
	const char *p, *from;
};

static long condition(struct condition *c, int level);

static long primary(struct condition *c)
{
	c->p = blank(c->p);
	if (*c->p == '!')
		return c->p++, !primary(c);
	if (*c->p == '(') {
		c->p++;
		long v = condition(c, 0);
		c->p = blank(c->p);
		c->p += *c->p == ')';
		return v;
	}
	if (isdigit((unsigned char)*c->p)) {
		char *end;
		long v = strtol(c->p, &end, 0);
		c->p = end + strspn(end, "uUlL");
		return v;
	}
	int n = word(c->p);
	const char *name = c->p;
	c->p = blank(c->p + n);
	int has_include = n == 13 && strncmp(name, "__has_include", 13) == 0;
	if (!has_include && !(n == 7 && strncmp(name, "defined", 7) == 0)) {
		int i = find_macro(c->r, name, n);
		return i >= 0 ? strtol(c->r->macros[i].value, NULL, 0) : 0;
	}
	int brackets = *c->p == '(', quoted = 0;
	c->p = blank(c->p + brackets);
	long v = 0;
	if (has_include) {
		char file[256], *path;
		const char *end = spelled_name(c->p, file, &quoted);
		char *content = end != NULL ? look(c->r, c->from, file, quoted, &path) : NULL;
		if (content != NULL)
			free(path);
		free(content);
		c->p = end != NULL ? end : c->p;
		v = content != NULL;
	} else {
		n = word(c->p);
		v = find_macro(c->r, c->p, n) >= 0;
		c->p += n;
	}
	c->p = blank(c->p);
	c->p += brackets && *c->p == ')';
	return v;
}

static long condition(struct condition *c, int level)
{
	static const char *const operators[][5] = {{"||"}, {"&&"}, {"==", "!="}, {"<=", ">=", "<", ">"}};
	if (level == 4)
		return primary(c);
	for (long v = condition(c, level + 1);;) {
		int op = 0;
		c->p = blank(c->p);
		const char *s;
		while ((s = operators[level][op]) != NULL && strncmp(c->p, s, strlen(s)) != 0)
			op++;
		if (s == NULL)
			return v;
		c->p += strlen(s);
		long w = condition(c, level + 1);
		switch (level * 4 + op) {
		case 0: v = v || w; break;
		case 4: v = v && w; break;
		case 8: v = v == w; break;
		case 9: v = v != w; break;
		case 12: v = v <= w; break;
		case 13: v = v >= w; break;
		case 14: v = v < w; break;
		case 15: v = v > w; break;
		}
	}
}

/* without_comments returns a source with a blank for each comment, its lines
 * kept, and lines that end in a backslash joined. */
static char *without_comments(const char *p)
{
	text out = {0};
	text_add(&out, "", 0);
	while (*p != 0) {
		size_t n = 1;
		if (p[0] == '\\' && p[1] == '\n') {
			p += 2;
			continue;
		}
		if (p[0] == '/' && p[1] == '/') {
			p += strcspn(p, "\n");
			continue;
		}
		if (p[0] == '/' && p[1] == '*') {
			const char *end = strstr(p + 2, "*/");
			text_add(&out, " ", 1);
			for (; *p != 0 && p != end; p++)
				if (*p == '\n')
					text_add(&out, p, 1);
			p += *p != 0 ? 2 : 0;
			continue;
		}
		if (*p == '"' || *p == '\'') {
			while (p[n] != 0 && p[n] != *p && p[n] != '\n')
				n += p[n] == '\\' && p[n + 1] != 0 ? 2 : 1;
			n += p[n] == *p;
		}
		text_add(&out, p, n);
		p += n;
	}
	return out.p;
}

/* State of the conditions that a line is in: taken is whether a branch was. */
struct nest {
	int on, taken, outer;
};

/* conditional handles the directives that begin and end branches; 0 for others. */
static int conditional(reading *r, const char *from, const char *p, int n, struct nest *nest, int *depth)
{
	const char *rest = blank(p + n);
	struct condition c = {r, rest, from};
	struct nest *top = &nest[*depth];
#define IS(name) (n == (int)strlen(name) && strncmp(p, name, strlen(name)) == 0)
	if (IS("if") || IS("ifdef") || IS("ifndef")) {
		if (*depth < 63)
			top = &nest[++*depth];
		top->outer = top[-1].on;
		top->on = top->outer &&
		          (n == 2 ? condition(&c, 0) != 0 : (find_macro(r, rest, word(rest)) >= 0) == (n == 5));
		top->taken = top->on;
	} else if (*depth > 0 && (IS("else") || IS("elif"))) {
		top->on = top->outer && !top->taken && (IS("else") || condition(&c, 0) != 0);
		top->taken |= top->on;
	} else if (*depth > 0 && IS("endif")) {
		--*depth;
	} else {
		return 0;
	}
	return 1;
}

/* directive handles a directive in a branch that is taken. */
static void directive(reading *r, const char *from, int line, const char *p, int n)
{
	const char *rest = blank(p + n);
	if (IS("define")) {
		int name = word(rest);
		set_macro(r, rest, name, blank(rest + name));
	} else if (IS("undef")) {
		undefine(r, rest, word(rest));
	} else if (IS("pragma") && strncmp(rest, "once", 4) == 0) {
		if (r->nonce < MAX_FILES)
			r->once[r->nonce++] = strdup(from);
	} else if (IS("error")) {
		text_print(&r->log, "%s(%d): catastrophic error: #error directive: %s\n", from, line, rest);
		r->failed = 1;
	} else if (IS("warning")) {
		text_print(&r->log, "%s(%d): warning #1105-D: #warning directive: %s\n", from, line, rest);
	} else if (IS("include")) {
		char name[256];
		int quoted;
		int macro = find_macro(r, rest, word(rest)); /* a computed one */
		if (spelled_name(macro >= 0 ? r->macros[macro].value : rest, name, &quoted) != NULL)
			include(r, from, line, name, quoted);
	}
}

void read_source(reading *r, const char *name, const char *source)
{
	struct nest nest[64] = {{.on = 1}};
	int depth = 0, number = 1;
	char *plain = without_comments(source), *rest = plain, *line;
	for (; (line = strsep(&rest, "\n")) != NULL && !r->failed; number++) {
		const char *p = blank(line);
		const char *what = *p == '#' ? blank(p + 1) : p;
		int n = *p == '#' ? word(what) : 0;
		if (*p == '#' && conditional(r, name, what, n, nest, &depth))
			continue;
		if (!nest[depth].on || *p == 0)
			continue;
		size_t end = strlen(p);
		while (isspace((unsigned char)p[end - 1])) /* the space before a comment */
			end--;
		text_print(&r->seen, "%.*s\n", (int)end, p);
		if (*p == '#')
			directive(r, name, number, what, n);
	}
	free(plain);
}

/* same_file reports whether two names are the same file. A header in memory has only its name. */
static int same_file(const char *a, const char *b)
{
	struct stat x, y;
	if (strcmp(a, b) == 0)
		return 1;
	return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

void include(reading *r, const char *from, int line, const char *spelled, int quoted)
{
	char *name;
	char *content = r->depth < 200 ? look(r, from, spelled, quoted, &name) : NULL;
	if (content == NULL) {
		text_print(
			&r->log, "%s(%d): catastrophic error: cannot open source file \"%s\"\n", from, line, spelled);
		r->failed = 1;
		return;
	}
	int again = 0;
	for (int i = 0; i < r->nonce; i++)
		again |= same_file(r->once[i], name);
	r->depth++;
	if (!again)
		read_source(r, name, content);
	r->depth--;
	free(content);
	free(name);
}

void reading_free(reading *r)
{
	while (r->nmacros > 0)
		undefine(r, r->macros[0].name, (int)strlen(r->macros[0].name));
	while (r->nonce > 0)
		free(r->once[--r->nonce]);
	free(r->seen.p);
	free(r->log.p);
}
