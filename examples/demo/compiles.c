/* compiles.c: an NVRTC that rings a bell. Each compile opens, RINGS times, the file in the
 * folder COMPILE_BELLS that has the program's name. It writes nothing, because a compile
 * that leaves files behind is not kept. It is linked to the real libnvrtc, which has all
 * other functions. For processes that compile one program at a time, as the demo's do. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum { RINGS = 64 };

static char name[64]; /* of the last program */

int nvrtcCreateProgram(void **program, const char *source, const char *file, int n, const char *const *texts,
	const char *const *headers)
{
	int (*real)(void **, const char *, const char *, int, const char *const *, const char *const *);
	*(void **)&real = dlsym(RTLD_NEXT, "nvrtcCreateProgram");
	snprintf(name, sizeof name, "%s", file);
	return real(program, source, file, n, texts, headers);
}

int nvrtcCompileProgram(void *program, int n, const char *const *options)
{
	int (*real)(void *, int, const char *const *);
	*(void **)&real = dlsym(RTLD_NEXT, "nvrtcCompileProgram");
	char path[4096];
	snprintf(path, sizeof path, "%s/%s", COMPILE_BELLS, name);
	for (int i = 0; i < RINGS; i++)
		close(open(path, O_RDONLY | O_CLOEXEC));
	return real(program, n, options);
}
