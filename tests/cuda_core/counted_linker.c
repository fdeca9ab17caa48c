/* counted_linker.c: a real nvJitLink, REAL, whose links are written down, and take at least as long as a test wants:
 * calls/__pycache__ and LINKED_SLEEP_MS, see cuda/cudatest/knobs.h. */
#define _GNU_SOURCE
#include "knobs.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef void linker;

/* All that cuda.core calls: name, parameters, arguments. */
#define FUNCTIONS(X) \
	X(nvJitLinkCreate, (linker * *p, unsigned n, const char **options), (p, n, options)) \
	X(nvJitLinkDestroy, (linker * *p), (p)) \
	X(nvJitLinkAddData, (linker * p, int kind, const void *data, size_t n, const char *name), \
		(p, kind, data, n, name)) \
	X(nvJitLinkAddFile, (linker * p, int kind, const char *path), (p, kind, path)) \
	X(nvJitLinkComplete, (linker * p), (p)) \
	X(nvJitLinkGetLinkedCubinSize, (linker * p, size_t *n), (p, n)) \
	X(nvJitLinkGetLinkedCubin, (linker * p, void *code), (p, code)) \
	X(nvJitLinkGetLinkedPtxSize, (linker * p, size_t *n), (p, n)) \
	X(nvJitLinkGetLinkedPtx, (linker * p, char *code), (p, code)) \
	X(nvJitLinkGetErrorLogSize, (linker * p, size_t *n), (p, n)) \
	X(nvJitLinkGetErrorLog, (linker * p, char *log), (p, log)) \
	X(nvJitLinkGetInfoLogSize, (linker * p, size_t *n), (p, n)) \
	X(nvJitLinkGetInfoLog, (linker * p, char *log), (p, log)) \
	X(nvJitLinkVersion, (unsigned *major, unsigned *minor), (major, minor))

#define FIELD(name, parameters, arguments) int(*name) parameters;
static struct {
	FUNCTIONS(FIELD)
} real;

static void *find(void *library, const char *name)
{
	void *found = library != NULL ? dlsym(library, name) : NULL;
	if (found == NULL) {
		fprintf(stderr, "counted_linker: %s\n", dlerror());
		abort();
	}
	return found;
}

#define FIND(name, parameters, arguments) *(void **)&real.name = find(library, #name);

__attribute__((constructor)) static void open_real(void)
{
	void *library = dlopen(REAL, RTLD_NOW | RTLD_LOCAL);
	FUNCTIONS(FIND)
}

#define API __attribute__((visibility("default")))
#define FORWARD(name, parameters, arguments) \
	API int name parameters \
	{ \
		if (#name[10] == 'o') { /* nvJitLinkComplete */ \
			knob_witness("%s", #name); \
			usleep((useconds_t)knob_number("LINKED_SLEEP_MS", 0) * 1000); \
		} \
		return real.name arguments; \
	}
FUNCTIONS(FORWARD)
