/* counted.c: a real NVRTC, REAL, whose compiles are written down as the fake
 * writes down its own, and take at least as long as a test wants:
 * calls/__pycache__, STUBNVRTC_SLEEP_MS and STUBNVRTC_GATE, see cuda/cudatest/libnvrtc.c. */
#define _GNU_SOURCE
#include "knobs.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef void program;

/* All that jitcache calls: name, parameters, arguments. */
#define FUNCTIONS(X) \
	X(nvrtcVersion, (int *major, int *minor), (major, minor)) \
	X(nvrtcCreateProgram, \
		(program * *p, const char *source, const char *name, int n, const char **texts, const char **names), \
		(p, source, name, n, texts, names)) \
	X(nvrtcDestroyProgram, (program * *p), (p)) \
	X(nvrtcAddNameExpression, (program * p, const char *e), (p, e)) \
	X(nvrtcCompileProgram, (program * p, int n, const char **options), (p, n, options)) \
	X(nvrtcGetLoweredName, (program * p, const char *e, const char **name), (p, e, name)) \
	X(nvrtcGetProgramLogSize, (program * p, size_t *n), (p, n)) \
	X(nvrtcGetProgramLog, (program * p, char *log), (p, log)) \
	X(nvrtcGetCUBINSize, (program * p, size_t *n), (p, n)) \
	X(nvrtcGetCUBIN, (program * p, char *code), (p, code)) \
	X(nvrtcGetPTXSize, (program * p, size_t *n), (p, n)) \
	X(nvrtcGetPTX, (program * p, char *code), (p, code)) \
	X(nvrtcGetLTOIRSize, (program * p, size_t *n), (p, n)) \
	X(nvrtcGetLTOIR, (program * p, char *code), (p, code))

#define FIELD(name, parameters, arguments) int(*name) parameters;
static struct {
	FUNCTIONS(FIELD)
	const char *(*error)(int);
} real;

static void *find(void *library, const char *name)
{
	void *found = library != NULL ? dlsym(library, name) : NULL;
	if (found == NULL) {
		fprintf(stderr, "counted: %s\n", dlerror());
		abort();
	}
	return found;
}

__attribute__((constructor)) static void open_real(void)
{
	void *library = dlopen(REAL, RTLD_NOW | RTLD_LOCAL);
#define FIND(name, parameters, arguments) *(void **)&real.name = find(library, #name);
	FUNCTIONS(FIND)
	*(void **)&real.error = find(library, "nvrtcGetErrorString");
}

static void before(const char *call)
{
	if (call[5] == 'G') /* nvrtcGet…: nobody counts them */
		return;
	knob_witness("%s", call);
	if (call[5] == 'C' && call[6] == 'o') { /* nvrtcCompileProgram */
		usleep((useconds_t)knob_number("STUBNVRTC_SLEEP_MS", 0) * 1000);
		knob_gate("STUBNVRTC_GATE");
	}
}

#define API __attribute__((visibility("default")))
#define FORWARD(name, parameters, arguments) \
	API int name parameters \
	{ \
		before(#name); \
		return real.name arguments; \
	}
FUNCTIONS(FORWARD)

API const char *nvrtcGetErrorString(int code) { return real.error(code); }
