/* jitcache-nvrtc compiles CUDA sources with NVRTC for libjitcache.so, which starts it
 * under the observer (observe/tracer). The observer sees what NVRTC looks at, and a
 * crash of NVRTC does not harm the host.
 *
 *	jitcache-nvrtc CHANNEL LIBNVRTC FOLDER
 *
 * FOLDER is the process's own, for precompiled headers, or "".
 *
 * It works in rounds: one to load the library, and one for each program. At the end of
 * each round, before the answer, the tracer reports. */
#include <dirent.h>
#include <dlfcn.h>
#include <link.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../../../observe/tracer/round.h"
#include "../../nvrtc/builtins.h"
#include "folder.h"
#include "variables.h"
#include "wire.h"

/* record/programs.go recognizes this program by it. */
__attribute__((used)) static const char marker[] = "JITCACHE NVRTC WORKER 1";

typedef void *program;

enum { NO_MEMORY = 1 }; /* NVRTC_ERROR_OUT_OF_MEMORY */

/* The functions of NVRTC, as its header declares them. */
#define FUNCTIONS(X) \
	X(int, Version, (int *major, int *minor)) \
	X(const char *, GetErrorString, (int status)) \
	X(int, CreateProgram, \
		(program *, const char *source, const char *name, int n, const char *const *texts, \
			const char *const *names)) \
	X(int, DestroyProgram, (program *)) \
	X(int, AddNameExpression, (program, const char *)) \
	X(int, CompileProgram, (program, int n, const char *const *options)) \
	X(int, GetLoweredName, (program, const char *expression, const char **name)) \
	X(int, GetProgramLogSize, (program, size_t *)) \
	X(int, GetProgramLog, (program, char *))

static struct {
#define FIELD(type, name, parameters) type(*name) parameters;
	FUNCTIONS(FIELD)
} nvrtc;

static void *library;
static int channel;

static int tell_mapped(struct dl_phdr_info *loaded, size_t size, void *unused)
{
	(void)size;
	(void)unused;
	if (loaded->dlpi_name[0] == '/')
		jw_add_text(JW_MAPPED, loaded->dlpi_name);
	return 0;
}

static void answer(void)
{
	fflush(NULL);
	jw_variables_tell();
	dl_iterate_phdr(tell_mapped, NULL);
	syscall(JO_MARK);
	jw_send(channel);
}

static void failed(const char *call, uint32_t status, const char *why)
{
	jw_add_text(JW_CALL, call);
	jw_add_number(JW_STATUS, status);
	jw_add_text(JW_WHY, why == NULL ? "" : why);
}

/* ---- the first round */

static int load(const char *path)
{
	int major = 0, minor = 0;
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (library == NULL) {
		failed("dlopen", 0, dlerror());
		return 0;
	}
#define FIND(type, name, parameters) \
	*(void **)&nvrtc.name = dlsym(library, "nvrtc" #name); \
	if (nvrtc.name == NULL) { \
		failed("dlsym", 0, "the library has no nvrtc" #name); \
		return 0; \
	}
	FUNCTIONS(FIND)
	nvrtc.Version(&major, &minor);
	jc_nvrtc_load_builtins(path, major, minor);
	const uint32_t version[] = {(uint32_t)major, (uint32_t)minor};
	jw_add(JW_VERSION, version, sizeof version);
	return 1;
}

/* ---- the others */

/* What to compile. Arrays are as long as there are parts. */
typedef struct work {
	const char *source, *name, *target;
	const char **names, **texts, **expressions, **options;
	int headers, nexpressions, noptions;
} work;

/* read_work sorts the parts of a message. */
static void read_work(work *w, const jw_part *parts, size_t n)
{
	const char **all = calloc(4 * n + 4, sizeof *all);
	if (all == NULL)
		_exit(1);
	*w = (work){"", "", "CUBIN", all, all + n + 1, all + 2 * n + 2, all + 3 * n + 3, 0, 0, 0};
	jw_variables_begin();
	jw_folder_show(0);
	for (size_t i = 0; i < n; i++) {
		const jw_part *p = &parts[i];
		switch (p->letter) {
		case JW_VARIABLE: jw_variables_set(p->data); break;
		case JW_SHOWN: jw_folder_show(1); break;
		case JW_UMASK: umask((mode_t)(*(const uint8_t *)p->data | ((const uint8_t *)p->data)[1] << 8)); break;
		case JW_NAME: w->name = p->data; break;
		case JW_SOURCE: w->source = p->data; break;
		case JW_HEADER: w->names[w->headers++] = p->data; break;
		case JW_TEXT: w->texts[w->headers - 1] = p->data; break;
		case JW_EXPRESSION: w->expressions[w->nexpressions++] = p->data; break;
		case JW_OPTION: w->options[w->noptions++] = p->data; break;
		case JW_TARGET: w->target = p->data; break;
		default: break;
		}
	}
}

/* ok reports whether a call succeeded, and adds its failure to the answer. */
static int ok(const char *call, int status)
{
	if (status != 0)
		failed(call, (uint32_t)status, nvrtc.GetErrorString(status));
	return status == 0;
}

static void tell_log(program p)
{
	size_t size = 0;
	if (nvrtc.GetProgramLogSize(p, &size) != 0 || size <= 1)
		return;
	char *log = calloc(1, size + 1);
	if (log != NULL && nvrtc.GetProgramLog(p, log) == 0)
		jw_add_text(JW_LOG, log);
	free(log);
}

/* tell_code adds the code to the answer. NVRTC has a pair of functions for each target;
 * an older NVRTC may lack some. */
static int tell_code(program p, const char *target)
{
	char name[64];
	int (*size_of)(program, size_t *), (*get)(program, char *);
	size_t size = 0;
	snprintf(name, sizeof name, "nvrtcGet%sSize", target);
	*(void **)&size_of = dlsym(library, name);
	if (size_of == NULL) {
		failed(name, 0, "this version does not have it");
		return 0;
	}
	if (!ok(name, size_of(p, &size)))
		return 0;
	snprintf(name, sizeof name, "nvrtcGet%s", target);
	*(void **)&get = dlsym(library, name);
	char *code = malloc(size + 1);
	if (code == NULL) {
		failed(name, NO_MEMORY, "no memory");
		return 0;
	}
	if (get == NULL) {
		failed(name, 0, "this version does not have it");
		free(code);
		return 0;
	}
	int got = ok(name, get(p, code));
	if (got)
		jw_add(JW_CODE, code, size);
	free(code);
	return got;
}

static void make(const work *w, program p)
{
	for (int i = 0; i < w->nexpressions; i++)
		if (!ok("nvrtcAddNameExpression", nvrtc.AddNameExpression(p, w->expressions[i])))
			return;
	int made = ok("nvrtcCompileProgram", nvrtc.CompileProgram(p, w->noptions, w->options));
	tell_log(p);
	if (!made)
		return;
	for (int i = 0; i < w->nexpressions; i++) {
		const char *name = NULL;
		if (!ok("nvrtcGetLoweredName", nvrtc.GetLoweredName(p, w->expressions[i], &name)))
			return;
		jw_add_text(JW_LOWERED, name);
	}
	tell_code(p, w->target);
}

static void compile(const work *w)
{
	program p = NULL;
	if (!ok("nvrtcCreateProgram", nvrtc.CreateProgram(&p, w->source, w->name, w->headers, w->texts, w->names)))
		return;
	make(w, p);
	nvrtc.DestroyProgram(&p);
}

/* keep_memory makes malloc keep up to 16 MiB for the next program. By default malloc
 * gives the memory back after each program, and then a trivial program has 860 page
 * faults, which take 3 % of its time. Both values are set, because setting one stops
 * malloc from adjusting the other. */
static void keep_memory(void)
{
	mallopt(M_TRIM_THRESHOLD, 16 << 20);
	mallopt(M_MMAP_THRESHOLD, 16 << 20);
}

/* remove_folder removes the process's own folder, with its files, when the host has gone. While
 * the host lives, the host removes it. */
static void remove_folder(const char *path)
{
	DIR *folder = opendir(path);
	if (folder == NULL)
		return;
	for (struct dirent *file; (file = readdir(folder)) != NULL;)
		unlinkat(dirfd(folder), file->d_name, 0);
	rmdir(path);
}

int main(int argc, char **argv)
{
	jw_part *parts;
	work w;
	if (argc != 4 || (channel = atoi(argv[1])) < 3) {
		fprintf(stderr, "%s: started by libjitcache.so, not by hand\n", marker);
		return 125;
	}
	keep_memory();
	/* Read the time zone in the first round, as part of what the process begins with.
	 * NVRTC asks for the time in each compile, but no result that shows one is kept. */
	tzset();
	setsid(); /* signals of the host's terminal are for the host only */
	size_t n;
	int loaded = 0;
	if (jw_receive(channel, &parts, &n)) {
		read_work(&w, parts, n);
		free(w.names);
		loaded = load(argv[2]);
		answer();
	}
	while (loaded && jw_receive(channel, &parts, &n)) {
		read_work(&w, parts, n);
		compile(&w);
		free(w.names);
		answer();
	}
	remove_folder(argv[3]);
	_exit(0);
}
