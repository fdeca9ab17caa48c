/* libnvrtc.c: a compiler that reads files like NVRTC, and makes nearly empty code.
 *
 *	cc -shared -fPIC -pthread -fvisibility=hidden -Wl,-soname,libnvrtc.so.13 \
 *		-o libnvrtc.so.13 libnvrtc.c preprocess.c precompile.c image.c knobs.c
 *
 * An image has the functions of the source, and a digest of all that a compiler would
 * see: version, options, and the lines of the source and its headers, without comments
 * and branches that are not taken. So two images are equal if, and only if, a compiler
 * would have seen the same.
 *
 *	-DSTUBNVRTC_MAJOR=12 -DSTUBNVRTC_MINOR=9	another version, default 13.5
 *	-DSTUBNVRTC_DRIVER	a compile depends on the driver that it finds
 *	-DSTUBNVRTC_BUILTINS	a compile opens its builtins by their name, as NVRTC does;
 *				its header has no path to find them by
 *	calls/__pycache__	a folder beside the library: each nvrtcCreateProgram,
 *				nvrtcCompileProgram and nvrtcDestroyProgram makes a
 *				file there with its name and the program's
 *	STUBNVRTC_SLEEP_MS	how long a compile takes at least
 *	STUBNVRTC_GATE		a name: a compile waits as long as its thread has this
 *				name, and reads its files afterwards
 *	STUBNVRTC_GATE_BEHIND	the same, after the compile has read everything
 *	STUBNVRTC_CRASH		1: a compile ends the process
 *	STUBNVRTC_FAIL		"nvrtcGetCUBIN=11:1", as FAKECUDA_FAIL
 *
 * #error fails with a log, #warning has one. Functions are those that follow
 * __global__ in the text, and the name expressions; lowered names only look
 * mangled. The option --no-such-option is refused, all others are taken.
 * precompile.h tells of --pch.
 */
#define _GNU_SOURCE
#include "image.h"
#include "knobs.h"
#include "precompile.h"
#include "preprocess.h"

#include <ctype.h>
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef STUBNVRTC_MAJOR
#define STUBNVRTC_MAJOR 13
#define STUBNVRTC_MINOR 5
#endif

#define API __attribute__((visibility("default")))

/* Results, as in nvrtc.h. */
#define RESULTS(X) \
	X(SUCCESS) \
	X(ERROR_OUT_OF_MEMORY) \
	X(ERROR_PROGRAM_CREATION_FAILURE) \
	X(ERROR_INVALID_INPUT) \
	X(ERROR_INVALID_PROGRAM) \
	X(ERROR_INVALID_OPTION) \
	X(ERROR_COMPILATION) \
	X(ERROR_BUILTIN_OPERATION_FAILURE) \
	X(ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION) \
	X(ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION) \
	X(ERROR_NAME_EXPRESSION_NOT_VALID) \
	X(ERROR_INTERNAL_ERROR)
#define RESULT(name) name,
enum { RESULTS(RESULT) };

enum { CUBIN, PTX, LTOIR, KINDS, MAX_EXPRESSIONS = 64 };

typedef struct program {
	char *source, *name;
	int nheaders;
	char **headers, **names;
	char *expressions[MAX_EXPRESSIONS], *lowered[MAX_EXPRESSIONS];
	int nexpressions, compiled;
	text log, made[KINDS];
} program;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the knobs */

static int enter(const char *call, const char *name)
{
	pthread_mutex_lock(&lock);
	int code = knob_failure("STUBNVRTC_FAIL", call);
	if (name != NULL)
		knob_witness("%s %s", call, name);
	pthread_mutex_unlock(&lock);
	return code;
}

#define ENTER(name) \
	do { \
		int code_ = enter(__func__, name); \
		if (code_ != SUCCESS) \
			return code_; \
	} while (0)

static char *copy(const char *s) { return s != NULL ? strdup(s) : NULL; }

API const char *nvrtcGetErrorString(int result)
{
#define STRING(name) \
	if (result == name) \
		return "NVRTC_" #name;
	RESULTS(STRING)
	return "NVRTC_ERROR unknown";
}

API int nvrtcVersion(int *major, int *minor)
{
	ENTER(NULL);
	*major = STUBNVRTC_MAJOR;
	*minor = STUBNVRTC_MINOR;
	return SUCCESS;
}

static const int archs[] = {75, 80, 86, 87, 89, 90, 100, 103, 110, 120, 121};

API int nvrtcGetNumSupportedArchs(int *count)
{
	ENTER(NULL);
	*count = sizeof archs / sizeof *archs;
	return SUCCESS;
}

API int nvrtcGetSupportedArchs(int *out)
{
	ENTER(NULL);
	memcpy(out, archs, sizeof archs);
	return SUCCESS;
}

API int nvrtcCreateProgram(program **out, const char *source, const char *name, int n, const char *const *headers,
	const char *const *names)
{
	const char *called = name != NULL && *name != 0 ? name : "default_program";
	ENTER(called);
	if (out == NULL || source == NULL || n < 0 || (n > 0 && (headers == NULL || names == NULL)))
		return ERROR_INVALID_INPUT;
	program *p = calloc(1, sizeof *p);
	p->source = copy(source);
	p->name = copy(called);
	p->nheaders = n;
	p->headers = calloc((size_t)n + 1, sizeof *p->headers);
	p->names = calloc((size_t)n + 1, sizeof *p->names);
	for (int i = 0; i < n; i++) {
		p->headers[i] = copy(headers[i]);
		p->names[i] = copy(names[i]);
	}
	*out = p;
	return SUCCESS;
}

API int nvrtcDestroyProgram(program **at)
{
	if (at == NULL || *at == NULL)
		return ERROR_INVALID_PROGRAM;
	program *p = *at;
	ENTER(p->name);
	for (int i = 0; i < p->nheaders; i++) {
		free(p->headers[i]);
		free(p->names[i]);
	}
	for (int i = 0; i < p->nexpressions; i++) {
		free(p->expressions[i]);
		free(p->lowered[i]);
	}
	for (int i = 0; i < KINDS; i++)
		free(p->made[i].p);
	free(p->headers);
	free(p->names);
	free(p->log.p);
	free(p->source);
	free(p->name);
	free(p);
	*at = NULL;
	return SUCCESS;
}

API int nvrtcAddNameExpression(program *p, const char *expression)
{
	ENTER(NULL);
	if (p->compiled)
		return ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION;
	if (p->nexpressions == MAX_EXPRESSIONS)
		return ERROR_OUT_OF_MEMORY;
	p->expressions[p->nexpressions++] = copy(expression);
	return SUCCESS;
}

API int nvrtcGetLoweredName(program *p, const char *expression, const char **out)
{
	ENTER(NULL);
	if (!p->compiled)
		return ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION;
	for (int i = 0; i < p->nexpressions; i++)
		if (strcmp(p->expressions[i], expression) == 0)
			return *out = p->lowered[i], SUCCESS;
	return ERROR_NAME_EXPRESSION_NOT_VALID;
}

/* What the options ask for. */
typedef struct request {
	int sm, exact, is_virtual, lto;
} request;

/* value returns the value of an option that has two names, from the same argument or the
 * next one, over which *i then moves; NULL for other options. */
static const char *value(const char *brief, const char *full, int n, const char *const *options, int *i)
{
	const char *o = options[*i], *rest;
	if (strncmp(o, full, strlen(full)) == 0)
		rest = o + strlen(full);
	else if (strncmp(o, brief, strlen(brief)) == 0)
		rest = o + strlen(brief);
	else
		return NULL;
	if (*rest == 0 && *i + 1 < n)
		return options[++*i];
	return *rest == '=' ? rest + 1 : rest;
}

static int read_options(reading *r, request *q, int n, const char *const *options, text *digest)
{
	for (int i = 0; i < n; i++) {
		const char *v;
		if (strcmp(options[i], "--no-such-option") == 0)
			return ERROR_INVALID_OPTION;
		if ((v = value("-I", "--include-path", n, options, &i)) != NULL) {
			if (r->nfolders < MAX_FOLDERS)
				r->folders[r->nfolders++] = v;
			continue; /* the folder of a header is not part of its text */
		}
		if (strcmp(options[i], "--no-cache") == 0 || strcmp(options[i], "-no-cache") == 0)
			continue; /* the code does not depend on NVRTC's own cache */
		if (strncmp(options[i], "--pch", 5) == 0)
			continue; /* nor on precompiled headers */
		text_print(digest, "%s\n", options[i]);
		if ((v = value("-D", "--define-macro", n, options, &i)) != NULL) {
			text_print(digest, "%s\n", v);
			define(r, v);
		} else if ((v = value("-include", "--pre-include", n, options, &i)) != NULL) {
			include(r, "", 0, v, 1);
		} else if ((v = value("-arch", "--gpu-architecture", n, options, &i)) != NULL) {
			const char *number = strchr(v, '_');
			q->is_virtual = strncmp(v, "compute", 7) == 0;
			q->sm = number != NULL ? atoi(number + 1) : 0;
			q->exact = v[strlen(v) - 1] == 'a';
		}
		q->lto |= strcmp(options[i], "-dlto") == 0 || strcmp(options[i], "--dlink-time-opt") == 0;
	}
	return q->sm >= 50 ? SUCCESS : ERROR_INVALID_OPTION;
}

/* mangle makes a name of an expression, unless it is plain. */
static void mangle(text *out, const char *s, size_t n, int plain)
{
	if (!plain)
		text_print(out, "_Z%zu", n);
	for (size_t i = 0; i < n; i++)
		text_add(out, isalnum((unsigned char)s[i]) ? &s[i] : "_", 1);
	if (!plain)
		text_add(out, "v", 1);
	text_add(out, "", 1);
}

/* find_functions lists the functions after __global__: the word before the parenthesis,
 * without __launch_bounds__. */
static void find_functions(const char *p, text *names)
{
	for (const char *at = p; (at = strstr(at, "__global__")) != NULL;) {
		const char *line = at;
		while (line > p && line[-1] != '\n' && line[-1] != ';' && line[-1] != '}')
			line--;
		const char *c = memmem(line, (size_t)(at - line), "\"C\"", 3);
		at += strlen("__global__");
		const char *bounds = strstr(at, "__launch_bounds__"), *open = strchr(at, '(');
		if (open != NULL && bounds != NULL && bounds < open)
			open = strchr(open + 1, '(');
		const char *end = open, *begin;
		while (end != NULL && end > at && isspace((unsigned char)end[-1]))
			end--;
		for (begin = end;
			begin != NULL && begin > at && (isalnum((unsigned char)begin[-1]) || begin[-1] == '_');)
			begin--;
		if (begin != NULL && begin < end)
			mangle(names, begin, (size_t)(end - begin), c != NULL);
	}
}

/* lower gives each name expression a lowered name; its first word must be in the text. */
static int lower(program *p, const char *seen, text *names)
{
	for (int i = 0; i < p->nexpressions; i++) {
		const char *e = p->expressions[i] + strspn(p->expressions[i], "& ");
		char *word = strndup(e, strcspn(e, "<( "));
		int known = seen != NULL &&
		            strstr(seen, strrchr(word, ':') != NULL ? strrchr(word, ':') + 1 : word) != NULL;
		free(word);
		if (!known) {
			text_print(&p->log, "%s: error: name expression \"%s\" is not valid\n", p->name, e);
			return ERROR_COMPILATION;
		}
		size_t at = names->n;
		mangle(names, e, strlen(e), 0);
		p->lowered[i] = copy(names->p + at);
	}
	text_add(names, "", 1);
	return SUCCESS;
}

/* digest is FNV-1a, which is no defence against attacks; none is needed here. */
static uint64_t digest(const text *t, uint64_t h)
{
	for (size_t i = 0; i < t->n; i++)
		h = (h ^ (unsigned char)t->p[i]) * 0x100000001b3u;
	return h;
}

static void emit(program *p, const request *q, const char *names, const char *note)
{
	if (q->lto)
		text_print(&p->made[LTOIR], "LTOIR sm_%d %s\n", q->sm, note);
	text_print(&p->made[PTX], "// %s\n.version 8.0\n.target sm_%d%s\n.address_size 64\n", note, q->sm,
		q->exact ? "a" : "");
	for (const char *name = names; *name != 0; name += strlen(name) + 1)
		text_print(&p->made[PTX], ".visible .entry %s()\n{\n\tret;\n}\n", name);
	text_add(&p->made[PTX], "", 1);
	if (!q->is_virtual && !q->lto) {
		unsigned char *image = image_cubin(q->sm, q->exact, names, note, &p->made[CUBIN].n);
		p->made[CUBIN].p = (char *)image;
	}
}

/* opens_driver asks the driver for something, as NVRTC does for its own cache since 12.9. */
static void opens_driver(text *all)
{
#ifdef STUBNVRTC_DRIVER
	void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
	text_print(all, "driver %d %d\n", driver != NULL, driver != NULL && dlsym(driver, "cuCtxGetId") != NULL);
#else
	(void)all;
#endif
}

static int compile(program *p, reading *r, int n, const char *const *options)
{
	text all = {0}, names = {0};
	request q = {.sm = STUBNVRTC_MAJOR < 13 ? 52 : 75};
	char note[64];
	text_print(&all, "NVRTC %d.%d\n", STUBNVRTC_MAJOR, STUBNVRTC_MINOR);
	opens_driver(&all);
	int code = read_options(r, &q, n, options, &all);
	if (code == SUCCESS) {
		read_source(r, p->name, p->source);
		code = r->failed ? ERROR_COMPILATION : SUCCESS;
		text_add(&p->log, r->log.p != NULL ? r->log.p : "", r->log.n);
	}
	if (code == SUCCESS) {
		find_functions(r->seen.p != NULL ? r->seen.p : "", &names);
		code = lower(p, r->seen.p, &names);
	}
	if (code == SUCCESS) {
		uint64_t h = digest(&names, digest(&r->seen, digest(&all, 0xcbf29ce484222325u)));
		snprintf(note, sizeof note, "stub %016llx", (unsigned long long)h);
		emit(p, &q, names.p, note);
	}
	free(all.p);
	free(names.p);
	return code;
}

API int nvrtcCompileProgram(program *p, int n, const char *const *options)
{
	if (p == NULL)
		return ERROR_INVALID_PROGRAM;
	ENTER(p->name);
	reading r = {.nheaders = p->nheaders, .headers = p->headers, .names = p->names};
	usleep((useconds_t)knob_number("STUBNVRTC_SLEEP_MS", 0) * 1000);
	knob_gate("STUBNVRTC_GATE");
	if (knob_number("STUBNVRTC_CRASH", 0))
		raise(SIGSEGV);
#ifdef STUBNVRTC_BUILTINS
	char builtins[64];
	snprintf(builtins, sizeof builtins, "libnvrtc-builtins.so.%d.%d", STUBNVRTC_MAJOR, STUBNVRTC_MINOR);
	if (dlopen(builtins, RTLD_LAZY) == NULL)
		return ERROR_BUILTIN_OPERATION_FAILURE;
#endif
	precompile(&r, n, options);
	int code = compile(p, &r, n, options);
	knob_gate("STUBNVRTC_GATE_BEHIND");
	reading_free(&r);
	p->compiled = code == SUCCESS;
	return code;
}

static int get_size(const text *t, size_t *size) { return *size = t->n, SUCCESS; }

static int get(const text *t, char *out)
{
	if (t->n > 0)
		memcpy(out, t->p, t->n);
	return SUCCESS;
}

/* A pair of functions for each result: its size, and itself. */
#define RESULT_OF(name, kind) \
	API int nvrtcGet##name##Size(const program *p, size_t *size) \
	{ \
		ENTER(NULL); \
		return p->compiled ? get_size(&p->made[kind], size) : ERROR_INVALID_PROGRAM; \
	} \
	API int nvrtcGet##name(const program *p, char *out) \
	{ \
		ENTER(NULL); \
		return p->compiled ? get(&p->made[kind], out) : ERROR_INVALID_PROGRAM; \
	}

RESULT_OF(CUBIN, CUBIN)
RESULT_OF(PTX, PTX)
RESULT_OF(LTOIR, LTOIR)

API int nvrtcGetProgramLogSize(const program *p, size_t *size)
{
	ENTER(NULL);
	*size = p->log.n + 1;
	return SUCCESS;
}

API int nvrtcGetProgramLog(const program *p, char *out)
{
	ENTER(NULL);
	out[0] = 0;
	get(&p->log, out);
	out[p->log.n] = 0;
	return SUCCESS;
}
